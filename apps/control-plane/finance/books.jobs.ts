import { accrueCosts } from '#finance/costs/accrual.js';
import { sumUpRecognised } from '#finance/reports/recognised-days.js';
import { buildNextRevenueDay } from '#finance/reports/revenue-days.js';
import { buildNextSnapshot } from '#ledger/reports/balance-snapshots.js';
import { ChainBuilder } from '#ledger/chain/chain.js';
import { HeadSigner } from '#ledger/chain/chain-signature.js';
import { recogniseNext, recognitionProgress, retryStuck } from '#ledger/lots/recognition.js';
import { Loop } from '#platform/loop.js';
import { Gauge, type Registry } from '#platform/metrics.js';
import { job } from '#platform/wiring.js';
import { type Shared, SHARED } from '../control-plane.tokens.js';

export const booksJobs = [chainLoop, costLoop, recognitionLoop, snapshotLoop].map((make) =>
  job(make, SHARED),
);

/** Seals what was posted into the hash chain. */
function chainLoop({ pool, relay, config, log }: Shared): Loop {
  const builder = new ChainBuilder({ pool, log });
  const signer = config.chainSigningKey && new HeadSigner(config.chainSigningKey);
  if (!signer) log.warn('CHAIN_SIGNING_KEY is not set: the heads of the ledger chain are not signed');
  return new Loop({
    name: 'ledger-chain',
    intervalMs: config.chainSealIntervalMs,
    log,
    round: async (signal) => {
      const blocks = await builder.seal(signal);
      // A head left by an earlier round or by the close of a period is signed as well.
      const isSigned = (await signer?.sign(pool)) ?? false;
      if (blocks.length > 0 || isSigned) relay.wake();
    },
  });
}

/** Records the upstream costs of ended charges, and sums up the revenue of past days. */
function costLoop({ pool, config, log }: Shared): Loop {
  return new Loop({
    name: 'upstream-costs',
    intervalMs: config.costAccrualIntervalMs,
    log,
    round: async (signal) => {
      await accrueCosts(pool, { signal });
      return (await buildNextRevenueDay(pool)) !== null;
    },
  });
}

/** Consumes credit lots, recognises their revenue, and sums it up for past days. */
function recognitionLoop({ pool, config, log, registry }: Shared): Loop {
  let recognisedTo: number | null = null;
  showLag(registry, () => recognisedTo);
  return new Loop({
    name: 'recognition',
    intervalMs: config.recognitionIntervalMs,
    log,
    round: async () => {
      const chunk = await recogniseNext(pool);
      const ms = Date.parse((await recognitionProgress(pool)).at);
      if (!Number.isNaN(ms)) recognisedTo = ms;
      if (chunk?.caughtUp !== true) return chunk !== null;
      await retryStuck(pool);
      return sumUpRecognised(pool);
    },
  });
}

function showLag(registry: Registry, recognisedTo: () => number | null): void {
  new Gauge({
    name: 'tollgate_recognition_lag_seconds',
    help: 'Age of the oldest posting whose revenue is not recognized yet; only the horizon once everything was processed.',
    registers: [registry],
    collect() {
      const toMs = recognisedTo();
      if (toMs !== null) this.set(Math.max(0, Date.now() - toMs) / 1_000);
    },
  });
}

/** Stores the balances of each past day. */
function snapshotLoop({ pool, config, log }: Shared): Loop {
  return new Loop({
    name: 'ledger-snapshots',
    intervalMs: config.ledgerSnapshotIntervalMs,
    log,
    round: async () => (await buildNextSnapshot(pool)) !== null,
  });
}
