import type { EmbeddedPostgres } from '#database/embedded-postgres.js';
import { accrueCosts } from '#finance/costs/accrual.js';
import { buildNextSnapshot } from '#ledger/reports/balance-snapshots.js';
import { ChainBuilder } from '#ledger/chain/chain.js';
import { recogniseAll } from '#ledger/lots/recognition.js';
import { parseAmount } from '#money/amount.js';
import { newId } from '#platform/ids.js';
import { createLogger } from '#platform/logging.js';
import { Loop } from '#platform/loop.js';
import { type Figure, told } from './finance.bench.js';
import { type Ledger, openLedger } from './ledger.bench.js';

/** One ledger is left alone. On the other, the loops run. */
export const POSTING_DATABASES = ['alone', 'followed'] as const;

const ACCOUNTS = 1_000;
const IN_FLIGHT = 256;
/** Odd, so that there is a median. */
const ROUNDS = 5;
/** Shorter than in billing, so that the loops have work in each round. */
const LOOP_MS = 1_000;

/**
 * Holds and their settlements, with and without the loops that follow them, on separate ledgers and in turns, so that a
 * busy moment of the machine affects both. The median round counts.
 */
export async function measurePosting(server: EmbeddedPostgres, seconds: number): Promise<Figure[]> {
  const alone = await openLedger(server, 'alone', ACCOUNTS);
  const followed = await openLedger(server, 'followed', ACCOUNTS);
  const loops = startLoops(followed);
  try {
    const rounds: Record<'alone' | 'followed', number[]> = { alone: [], followed: [] };
    for (let round = 0; round <= ROUNDS; round += 1) {
      for (const [name, ledger] of [
        ['alone', alone],
        ['followed', followed],
      ] as const) {
        const perSecond = await post(ledger, seconds * 1000);
        process.stderr.write(`posting, ${name}: ${Math.round(perSecond)}/s\n`);
        // The first round is for warming up.
        if (round > 0) rounds[name].push(perSecond);
      }
    }
    const [before, after] = [middle(rounds.alone), middle(rounds.followed)];
    const note = `${IN_FLIGHT} in flight, half of them settlements`;
    const rates = { unit: '/s' as const, aim: null, note };
    return [
      told({ what: 'postings without the service', value: before, ...rates }),
      told({ what: 'postings with chain, costs, recognition', value: after, ...rates }),
      told({
        what: 'the one of the other',
        value: after / before,
        unit: 'ratio',
        aim: { atLeast: 0.9 },
        note: '',
      }),
    ];
  } finally {
    await Promise.all(loops.map((loop) => loop.stop()));
    await Promise.all([alone.close(), followed.close()]);
  }
}

function startLoops({ billing }: Ledger): Loop[] {
  const log = createLogger('bench', 'warn');
  const builder = new ChainBuilder({ pool: billing, log: { info: () => undefined } });
  const rounds: Record<string, () => Promise<unknown>> = {
    chain: () => builder.seal(),
    costs: () => accrueCosts(billing),
    recognition: () => recogniseAll(billing),
    snapshots: () => buildNextSnapshot(billing),
  };
  return Object.entries(rounds).map(([name, round]) =>
    new Loop({ name, intervalMs: LOOP_MS, log, round: async () => void (await round()) }).start(),
  );
}

/** Keeps a number of charges in flight for a while. @returns postings per second */
export async function post(
  { engine, accounts }: Pick<Ledger, 'engine' | 'accounts'>,
  milliseconds: number,
): Promise<number> {
  const quotedAmount = parseAmount('0.03');
  const startedMs = performance.now();
  const endMs = startedMs + milliseconds;
  let [next, postings] = [0, 0];
  const client = async (): Promise<void> => {
    while (performance.now() < endMs) {
      const account = accounts[next++ % accounts.length] as (typeof accounts)[number];
      const chargeId = newId();
      const { accountId } = account;
      await engine.hold({
        chargeId,
        ...account,
        model: 'imgmodel-4',
        requestedModel: 'imgmodel-4',
        group: 'Vendora-Main',
        units: 1n,
        quotedAmount,
        expiresAtMs: Date.now() + 60_000,
        deadlineMs: Date.now() + 600_000,
        taskId: null,
        requestId: 'bench',
      });
      const settled = await engine.resolve({
        chargeId,
        accountId,
        outcome: 'delivered',
        deliveredUnits: 1n,
        channel: 'sandbox',
        reason: null,
        upstreamStatus: 200,
        latencyMs: 5,
      });
      if (settled.outcome !== 'settled') throw new Error(`a charge of the bench was ${settled.outcome}`);
      postings += 2;
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, client));
  return (postings / (performance.now() - startedMs)) * 1000;
}

function middle(rounds: number[]): number {
  return [...rounds].sort((a, b) => a - b)[rounds.length >> 1] as number;
}
