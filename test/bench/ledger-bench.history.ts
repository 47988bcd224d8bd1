import type { EmbeddedPostgres } from '#database/embedded-postgres.js';
import { parseAmount } from '#money/amount.js';
import { checkpoint } from './checkpoint.js';
import { type Ledger, type Measurement, measureEngine, openLedger, reported } from './ledger.bench.js';
import { growHistory } from './ledger-bench.accounts.js';

/** Holds on a ledger with no past and on one with a past, each from the median round, and their ratio. */
export interface HistoryResult {
  empty: Measurement;
  past: Measurement;
  ratio: number;
}

const IN_FLIGHT = 256;
/** Odd, so that there is a median. */
const ROUNDS = 5;
const MONTHS_OF_SPENDS = 36;

interface Pair {
  empty: Ledger;
  past: Ledger;
}

/** A new ledger beside one in which all customers have a past. */
export function measureHistory(
  server: EmbeddedPostgres,
  seconds: number,
  entries: number,
): Promise<HistoryResult> {
  return withLedgers(server, undefined, async (pair) => {
    await growPast(server, pair.past, entries);
    const names = {
      empty: 'engine, an empty ledger',
      past: `engine, ${entries / 1e6} million entries before`,
    };
    return compare(pair, names, seconds);
  });
}

/** One account with every possible limit, beside the same account with a past of its own. */
export function measureAccount(
  server: EmbeddedPostgres,
  seconds: number,
  entries: number,
): Promise<HistoryResult> {
  return withLedgers(server, 1, async (pair) => {
    await growPast(server, pair.past, entries);
    await addSpends(pair.past);
    await limit(pair.empty);
    await limit(pair.past);
    const names = {
      empty: 'one account with limits, new',
      past: `one account with limits, ${entries / 1e6} million entries of its own`,
    };
    return compare(pair, names, seconds);
  });
}

async function withLedgers<T>(
  server: EmbeddedPostgres,
  customers: number | undefined,
  work: (pair: Pair) => Promise<T>,
): Promise<T> {
  const suffix = customers ?? 'many';
  const empty = await openLedger(server, `empty_${suffix}`, customers);
  const past = await openLedger(server, `past_${suffix}`, customers);
  try {
    return await work({ empty, past });
  } finally {
    await Promise.all([empty.close(), past.close()]);
  }
}

async function growPast(server: EmbeddedPostgres, { owner }: Ledger, entries: number): Promise<void> {
  await growHistory(owner, entries);
  await checkpoint(server);
}

/** What its key spent in past months. */
async function addSpends({ owner, accounts: [account] }: Ledger): Promise<void> {
  await owner.query(
    `INSERT INTO key_spend (key_id, month, spent)
     SELECT $1, (date_trunc('month', now() AT TIME ZONE 'UTC') - n * interval '1 month')::date, 1000000
     FROM generate_series(1, $2::int) AS n`,
    [account?.keyId, MONTHS_OF_SPENDS],
  );
}

/** Limits that are checked but never reached. */
async function limit({ owner, accounts: [account] }: Ledger): Promise<void> {
  const far = parseAmount('100000000');
  await owner.query('UPDATE customer_balances SET monthly_limit = $2 WHERE account_id = $1', [
    account?.accountId,
    far,
  ]);
  await owner.query('UPDATE api_keys SET monthly_limit_nanos = $2, total_limit_nanos = $2 WHERE id = $1', [
    account?.keyId,
    far,
  ]);
}

/** In turns, so that a busy moment of the machine affects both. The median round counts. */
async function compare(
  pair: Pair,
  names: Record<keyof Pair, string>,
  seconds: number,
): Promise<HistoryResult> {
  const load = { inFlight: IN_FLIGHT, milliseconds: seconds * 1000 };
  const rounds: Record<keyof Pair, Measurement[]> = { empty: [], past: [] };
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const [name, ledger] of Object.entries(pair) as [keyof Pair, Ledger][]) {
      const measured = await measureEngine(ledger.engine, ledger.accounts, load);
      // The first round is for warming up.
      if (round > 0) rounds[name].push(reported({ what: names[name], inFlight: IN_FLIGHT, ...measured }));
    }
  }
  const [empty, past] = [middle(rounds.empty), middle(rounds.past)];
  return { empty, past, ratio: past.perSecond / empty.perSecond };
}

function middle(rounds: Measurement[]): Measurement {
  const sorted = [...rounds].sort((a, b) => a.perSecond - b.perSecond);
  return sorted[sorted.length >> 1] as Measurement;
}
