import type pg from 'pg';
import { copyOut } from '#database/copy-out.js';
import { accrueCosts } from '#finance/costs/accrual.js';
import { buildSnapshots } from '#ledger/reports/balance-snapshots.fixture.js';
import { ChainBuilder } from '#ledger/chain/chain.js';
import { verifyChain } from '#ledger/chain/chain-verify.js';
import { type ExportFormatName, exportFormats, exportLedger } from '#ledger/export/export.js';
import { ledgerAccountStatement } from '#ledger/reports/ledger-account-statement.js';
import { recogniseNext } from '#ledger/lots/recognition.js';
import { type TimeOf, trialBalance } from '#ledger/reports/trial-balance.js';
import type { Figure } from './finance.bench.js';
import { percentile } from './report.js';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const DAYS = 30;
const TRIAL_BALANCES = 7;
const PAGES = 100;
const PAGE_LINES = 50;
const COPIED_AT_ONCE = 200_000n;
/** The loops start with the whole past. This much of it is enough to measure their speed. */
const LOOP_LIMIT_MS = 90_000;

async function timed<T>(work: () => Promise<T>): Promise<{ ms: number; result: T }> {
  const startedMs = performance.now();
  const result = await work();
  return { ms: performance.now() - startedMs, result };
}

/** How long the database itself takes to read everything once. */
export async function measureFloors(pool: pg.Pool, entries: number): Promise<Figure[]> {
  const client = await pool.connect();
  try {
    await client.query('SET max_parallel_workers_per_gather = 0');
    const read = async () => client.query('SELECT sum(amount) FROM ledger_entries');
    await read();
    const { ms: sumMs } = await timed(read);
    const { rows } = await client.query<{ last: bigint }>(
      'SELECT max(transaction_id) AS last FROM ledger_entries',
    );
    const last = rows[0]?.last ?? 0n;
    const { ms: copyMs } = await timed(async () => {
      for (let after = 0n; after < last; after += COPIED_AT_ONCE)
        await copyOut(
          client,
          `SELECT * FROM ledger_entries WHERE transaction_id > ${after} AND transaction_id <= ${after + COPIED_AT_ONCE}`,
        );
    });
    const note = 'one connection';
    return [
      { what: 'floor: SELECT sum(amount)', value: sumMs / 1000, unit: 's', aim: null, note },
      { what: 'floor: COPY of the entries', value: (entries / copyMs) * 1000, unit: '/s', aim: null, note },
    ];
  } finally {
    client.release(true);
  }
}

export async function measureSnapshots(pool: pg.Pool): Promise<Figure[]> {
  const { ms, result } = await timed(() => buildSnapshots(pool));
  return [
    { what: 'balances of days, all at once', value: ms / 1000, unit: 's', aim: null, note: `${result} days` },
  ];
}

export async function measureChain(pool: pg.Pool): Promise<Figure[]> {
  const builder = new ChainBuilder({ pool, log: { info: () => undefined } });
  const built = await timed(() => builder.seal());
  const sealed = built.result.reduce((sum, { entryCount }) => sum + entryCount, 0);
  const verified = await timed(() => verifyChain(pool));
  if (!verified.result.ok) throw new Error('The chain that was just built does not hold.');
  const { rows } = await pool.query<{ bytes: bigint }>(
    `SELECT sum(pg_total_relation_size(oid))::bigint AS bytes FROM pg_class
     WHERE relname IN ('ledger_chain_blocks', 'ledger_chain_leaves', 'ledger_chain_accounts')`,
  );
  const aim = { atLeast: 200_000 };
  const rate = (count: number, ms: number) => ({ value: (count / ms) * 1000, unit: '/s' as const, aim });
  return [
    { what: 'chain: building, entries', ...rate(sealed, built.ms), note: `${built.result.length} blocks` },
    { what: 'chain: verification, entries', ...rate(verified.result.entries, verified.ms), note: '' },
    {
      what: 'chain: its size',
      value: Number(rows[0]?.bytes ?? 0) / 1e6,
      unit: 'MB',
      aim: { atMost: 150 },
      note: '',
    },
  ];
}

export async function measureTrialBalances(pool: pg.Pool): Promise<Figure[]> {
  const figures: Figure[] = [];
  const cases: [string, TimeOf, number, (sample: number) => Date | null][] = [
    ['now', 'recorded', 1, () => null],
    ['as of a time, recorded', 'recorded', 5, randomTime],
    ['as of a time, effective', 'effective', 5, randomTime],
  ];
  for (const [name, by, aimSeconds, at] of cases) {
    const samples: number[] = [];
    let accounts = 0;
    for (let sample = 0; sample < TRIAL_BALANCES; sample += 1) {
      const { ms, result } = await timed(() => trialBalance(pool, { by, at: at(sample) }));
      samples.push(ms / 1000);
      accounts = result.balances.length;
    }
    const note = `p50 ${percentile(samples, 0.5).toFixed(2)} s, ${accounts} accounts`;
    const value = percentile(samples, 1);
    figures.push({
      what: `trial balance ${name}, slowest`,
      value,
      unit: 's',
      aim: { atMost: aimSeconds },
      note,
    });
  }
  return figures;
}

/** A time covered by the books, at any hour of the day. */
function randomTime(): Date {
  return new Date(Date.now() - (1.5 + Math.random() * (DAYS - 3)) * DAY_MS);
}

export async function measureStatements(pool: pg.Pool): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [name, code] of [
    ['the busiest of the house', 'usage:image'],
    ['the busiest customer', `customer:book${'0'.repeat(22)}:main`],
    ['a small customer', `customer:book${'77'.padStart(22, '0')}:main`],
  ]) {
    const { rows } = await pool.query<{ id: bigint }>('SELECT id FROM ledger_accounts WHERE code = $1', [
      code,
    ]);
    const id = rows[0]?.id ?? 0n;
    const samples = await timesOfPages(pool, id);
    const note = `p50 ${percentile(samples, 0.5).toFixed(1)} ms`;
    const value = percentile(samples, 0.99);
    figures.push({ what: `statement page, ${name}, p99`, value, unit: 'ms', aim: { atMost: 50 }, note });
  }
  return figures;
}

/** Times of first pages and the pages after them, of the newest entries and of earlier ones. */
async function timesOfPages(pool: pg.Pool, id: bigint): Promise<number[]> {
  const samples: number[] = [];
  for (let page = 0; page < PAGES; page += 1) {
    const from = page % 3 === 0 ? new Date(Date.now() - 1.5 * DAY_MS) : randomTime();
    const to = page % 3 === 1 ? new Date(from.getTime() + 5 * HOUR_MS) : null;
    const asked = { from, to, limit: PAGE_LINES, after: null };
    const first = await timed(() => ledgerAccountStatement(pool, id, asked));
    samples.push(first.ms);
    const after = first.result?.next ?? null;
    if (after === null) continue;
    samples.push((await timed(() => ledgerAccountStatement(pool, id, { ...asked, after }))).ms);
  }
  return samples;
}

export async function measureExports(pool: pg.Pool, entries: number): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const format of Object.keys(exportFormats) as ExportFormatName[]) {
    const memory = { early: 0, late: 0 };
    let characters = 0;
    const { ms } = await timed(async () => {
      const whole = { from: null, to: null, ledgerAccountId: null, summary: false, currency: 'USD' };
      for await (const piece of exportLedger(pool, { format, ...whole })) {
        characters += piece.length;
        const when = characters < entries * 40 ? 'early' : 'late';
        memory[when] = Math.max(memory[when], process.memoryUsage.rss() / 1e6);
      }
    });
    const note = `${Math.round(characters / 1e6)} MB; memory ${Math.round(memory.early)} MB early, at most ${Math.round(memory.late)} later`;
    const value = (entries / ms) * 1000;
    figures.push({
      what: `export as ${format}, entries`,
      value,
      unit: '/s',
      aim: { atLeast: 100_000 },
      note,
    });
  }
  return figures;
}

/** The loops that follow the postings: how much of the past they process per second. */
export async function measureLoops(pool: pg.Pool): Promise<Figure[]> {
  const signal = AbortSignal.timeout(LOOP_LIMIT_MS);
  const costs = await timed(() => accrueCosts(pool, { signal }));
  const count = async (): Promise<number> => {
    const { rows } = await pool.query<{ count: bigint }>(
      'SELECT count(*) AS count FROM ledger_transactions WHERE id <= (SELECT through_id FROM lot_progress)',
    );
    return Number(rows[0]?.count ?? 0);
  };
  const recognised = await timed(async () => {
    const endMs = performance.now() + LOOP_LIMIT_MS;
    while (performance.now() < endMs) if ((await recogniseNext(pool))?.caughtUp) break;
  });
  const transactions = await count();
  const rate = (done: number, ms: number) => ({ value: (done / ms) * 1000, unit: '/s' as const, aim: null });
  return [
    {
      what: 'costs of charges, charges',
      ...rate(costs.result.recorded, costs.ms),
      note: `${costs.result.recorded} accrued`,
    },
    { what: 'recognition, transactions', ...rate(transactions, recognised.ms), note: `${transactions} done` },
  ];
}
