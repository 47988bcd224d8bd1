import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'csv-parse/sync';
import type pg from 'pg';
import { inTransaction } from '#database/database.js';
import { catchUp } from '#finance/periods/catch-up.js';
import { booksOfPeriod, type Period, periodBalances } from '#finance/periods/period.js';
import { closePeriod } from '#finance/periods/period-close.js';
import type { LedgerBalance } from '#ledger/reports/trial-balance.js';
import { buildSnapshots } from '#ledger/reports/balance-snapshots.fixture.js';
import { beancountAccount } from '#ledger/export/beancount.js';
import { exportFormats, exportLedger, type ExportQuery } from '#ledger/export/export.js';
import { exactly, unitOf } from '#ledger/export/journal.js';
import { bookSuspense } from '#ledger/postings/suspense.js';
import { newId } from '#platform/ids.js';
import { LedgerLife } from '../support/ledger-life.js';
import { createLedgerFixture, type LedgerFixture } from '../support/ledger.js';
import { spreadOverDays } from '../support/spread.js';
import { waiveAll } from '../support/waivers.js';

/**
 * The journals of closed periods, read by the real programs, add up to the trial balances that were stored when they
 * closed.
 */
const run = promisify(execFile);
const DAY_MS = 86_400_000;
const DAYS = 5;

let fixture: LedgerFixture;
let pool: pg.Pool;
let folder: string;
let files = 0;
const periods: Period[] = [];
let ours: { late: string[]; open: string };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollgate-periods-'));
  fixture = await createLedgerFixture();
  pool = fixture.billing;
  const life = new LedgerLife(fixture);
  await life.everything();
  await life.close();
  // No service runs here that would mark what was returned.
  await pool.query(
    `UPDATE suspense_items s SET state = 'returned', cleared_transaction_id = t.id, cleared_by = 'cli', cleared_at = now()
     FROM ledger_transactions t WHERE t.linked_id = s.transaction_id`,
  );
  await spreadOverDays(fixture.owner, DAYS);
  const past = new Date(Date.now() - 2 * DAY_MS);
  // A fact from that time that arrived in time, one that arrived after the close, and one after both.
  await book(new Date(past.getTime() - DAY_MS));
  periods.push(await close(past));
  const late = [await book(new Date(past.getTime() - 1)), await book(new Date(past.getTime() + 1))];
  await buildSnapshots(pool);
  periods.push(await close(new Date()));
  ours = { late, open: await book(new Date(past.getTime() - 2)) };
});
afterAll(async () => {
  await fixture?.close();
  await rm(folder, { recursive: true });
});

async function book(happenedAt: Date): Promise<string> {
  const reference = newId();
  const item = { provider: 'stripe' as const, orderId: null, amountMinor: 7n, currency: 'USD', reference };
  await inTransaction(pool, (client) =>
    bookSuspense(client, { ...item, why: 'no_order', happenedAt: happenedAt.toISOString() }, 'USD'),
  );
  return reference;
}

async function close(end: Date): Promise<Period> {
  await waiveAll(pool, end);
  const period = await closePeriod(
    pool,
    { end, note: null, actor: 'cli', requestId: newId() },
    {
      marginMs: 0,
      waitMs: 180_000,
      limitMs: 180_000,
      catchUp: () => catchUp(pool, { log: fixture.log }),
    },
  );
  expect(period.checklist.filter(({ state }) => state === 'failed')).toEqual([]);
  return period;
}

type Asked = Partial<Pick<ExportQuery, 'summary' | 'ledgerAccountId'>>;

async function exported(format: ExportQuery['format'], period: Period, asked: Asked = {}): Promise<string> {
  const range = booksOfPeriod(period);
  if (!range) throw new Error('it is not closed');
  let text = '';
  const query = { ...range, summary: false, ledgerAccountId: null, ...asked, format, currency: 'USD' };
  for await (const piece of exportLedger(pool, query)) text += piece;
  return text;
}

async function fileOf(format: ExportQuery['format'], text: string): Promise<string> {
  const file = join(folder, `${(files += 1)}.${exportFormats[format].extension}`);
  await writeFile(file, text);
  return file;
}

async function byHledger(text: string): Promise<Map<string, string>> {
  const file = await fileOf('hledger', text);
  await run('hledger', ['-f', file, 'check', '--strict']);
  const { stdout } = await run('hledger', ['-f', file, 'bal', '--flat', '-N', '-E', '-O', 'csv'], {
    maxBuffer: 1e8,
  });
  const rows: { account: string; balance: string }[] = parse(stdout, { columns: true });
  return new Map(rows.filter(({ balance }) => balance !== '0').map((row) => [row.account, row.balance]));
}

async function byBeancount(text: string): Promise<Map<string, string>> {
  const file = await fileOf('beancount', text);
  const checked = await run('bean-check', [file]);
  expect(checked.stderr + checked.stdout).toBe('');
  const query = 'SELECT account, currency, sum(number) AS total GROUP BY account, currency';
  const { stdout } = await run('bean-query', ['-f', 'csv', '-m', file, query], { maxBuffer: 1e8 });
  const rows: Record<'account' | 'currency' | 'total', string>[] = parse(stdout, {
    columns: true,
    trim: true,
  });
  const moved = rows.filter(({ total }) => Number(total) !== 0);
  return new Map(moved.map(({ account, currency, total }) => [account, `${total} ${currency}`]));
}

/** The stored balances in the other program's format. Debits are positive. */
function printed(
  balances: readonly LedgerBalance[],
  nameOf: (account: LedgerBalance) => string,
): Map<string, string> {
  return new Map(
    balances.map((account) => {
      const unit = unitOf(account, 'USD');
      return [nameOf(account), `${exactly(-account.balance, unit)} ${unit.symbol}`];
    }),
  );
}

/** Customers' accounts combined, as in a summary. */
function together(balances: readonly LedgerBalance[]): LedgerBalance[] {
  const sums = new Map<string, LedgerBalance>();
  for (const account of balances) {
    const code = account.accountId === null ? account.code : `customers:${account.code.split(':')[2]}`;
    sums.set(code, { ...account, code, balance: (sums.get(code)?.balance ?? 0n) + account.balance });
  }
  return [...sums.values()].filter(({ balance }) => balance !== 0n);
}

describe('the journal of a closed period', () => {
  it.each([
    ['first', 0],
    ['second', 1],
  ])('adds up exactly to the stored trial balance, the %s journal too', async (_, index) => {
    const period = periods[index]!;
    const balances = await periodBalances(pool, period.id);
    expect(balances.length).toBeGreaterThan(10);
    expect(await byHledger(await exported('hledger', period))).toEqual(printed(balances, ({ code }) => code));
    expect(await byBeancount(await exported('beancount', period))).toEqual(
      printed(balances, beancountAccount),
    );
    const summary = await exported('hledger', period, { summary: true });
    expect(await byHledger(summary)).toEqual(printed(together(balances), ({ code }) => code));
  });

  it('has facts on the days of their events, and late ones in the period to which they were posted', async () => {
    const rows = await Promise.all(
      periods.map(async (period): Promise<Record<string, string>[]> =>
        parse(await exported('csv', period), { columns: true }),
      ),
    );
    const where = (reference: string) =>
      rows.map((each) => each.filter((row) => row['reference']?.includes(reference)).length > 0);
    const [late, inTime] = ours.late;
    expect(where(late!)).toEqual([false, true]);
    expect(where(inTime!)).toEqual([false, true]);
    expect(where(ours.open)).toEqual([false, false]);
    for (const [index, entries] of rows.entries()) {
      const { startsAt, endsAt } = periods[index]!;
      const own = entries.filter(({ record }) => record === 'entry');
      expect(own.length).toBeGreaterThan(20);
      for (const { day, effective_at: at } of own) {
        expect(at?.slice(0, 10)).toBe(day);
        expect(Date.parse(at!)).toBeGreaterThanOrEqual(startsAt?.getTime() ?? 0);
        expect(Date.parse(at!)).toBeLessThanOrEqual(endsAt.getTime());
      }
    }
  });

  it('for one ledger account passes both programs, and ends at its balance then', async () => {
    const period = periods[1]!;
    const balances = await periodBalances(pool, period.id);
    const some = ['deferred-revenue', 'psp:stripe'].concat(
      balances
        .filter(({ accountId }) => accountId !== null)
        .slice(0, 1)
        .map(({ code }) => code),
    );
    for (const account of balances.filter(({ code }) => some.includes(code))) {
      const asked = { ledgerAccountId: account.ledgerAccountId };
      const sums = await byHledger(await exported('hledger', period, asked));
      expect(sums.get(account.code)).toBe(printed([account], ({ code }) => code).get(account.code));
      await byBeancount(await exported('beancount', period, asked));
    }
  });

  it('never changes', async () => {
    const before = await exported('jsonl', periods[0]!);
    await book(new Date(periods[0]!.endsAt.getTime() - 5));
    expect(await exported('jsonl', periods[0]!)).toBe(before);
  });
});
