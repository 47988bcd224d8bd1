import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type pg from 'pg';
import { nanos } from '#money/amount.js';
import { newId } from '#platform/ids.js';
import { LedgerLife } from '../../../test/support/ledger-life.js';
import { createLedgerFixture, type LedgerFixture } from '../../../test/support/ledger.js';
import { recordTopup } from '../../../test/support/topups.js';
import { buildSnapshots, dropSnapshots } from './balance-snapshots.fixture.js';
import {
  type LedgerCursor,
  ledgerAccountStatement,
  type LedgerLine,
  type LedgerStatementQuery,
  listLedgerAccounts,
} from './ledger-account-statement.js';
import { bookSuspense } from '../postings/suspense.js';
import { type TimeOf, type TrialBalance, trialBalance } from './trial-balance.js';

const DAY_MS = 86_400_000;
const DAYS = 6;

let fixture: LedgerFixture;
let pool: pg.Pool;

beforeAll(async () => {
  fixture = await createLedgerFixture();
  pool = fixture.billing;
  const life = new LedgerLife(fixture);
  for (let round = 0; round < 3; round += 1) await life.everything();
  await life.close();
  await spreadOverDays();
});
afterAll(() => fixture.close());

/** Spreads the postings over several days, every seventh for an event two days earlier. */
async function spreadOverDays(): Promise<void> {
  await fixture.owner.query(`ALTER TABLE ledger_transactions DISABLE TRIGGER append_only`);
  await fixture.owner.query(
    `UPDATE ledger_transactions t SET recorded_at = r.at, effective_at = r.at - (CASE WHEN r.n % 7 = 0 THEN 2 ELSE 0 END) * interval '1 day'
     FROM (SELECT id, row_number() OVER (ORDER BY id) AS n, recorded_at - $1::int * interval '1 day'
         + ntile($1) OVER (ORDER BY id) * interval '1 day' - interval '1 day' AS at FROM ledger_transactions) AS r
     WHERE r.id = t.id`,
    [DAYS],
  );
  await fixture.owner.query(`ALTER TABLE ledger_transactions ENABLE TRIGGER append_only`);
}

/** The expected report, summed from the entries alone. */
async function summed({ recordedBefore, ...report }: TrialBalance): Promise<Map<string, bigint>> {
  const { rows } = await pool.query<{ code: string; balance: string }>(
    `SELECT a.code, sum(e.amount)::text AS balance FROM ledger_entries e JOIN ledger_transactions t ON t.id = e.transaction_id
     JOIN ledger_accounts a ON a.id = e.ledger_account_id
     WHERE t.recorded_at < $1 AND t.effective_at < $2 GROUP BY 1`,
    [recordedBefore, report.by === 'recorded' ? 'infinity' : report.at],
  );
  return new Map(rows.map(({ code, balance }) => [code, BigInt(balance)]));
}

/** Without accounts at 0, which may or may not be listed if their balance returned to 0. */
function balancesOf({ balances }: TrialBalance): Map<string, bigint> {
  return new Map(
    balances.filter(({ balance }) => balance !== 0n).map(({ code, balance }) => [code, balance]),
  );
}

function instants(): (Date | null)[] {
  const now = Date.now();
  const days = Array.from({ length: DAYS + 2 }, (_, index) => now - index * DAY_MS);
  return [
    ...days.map((ms) => new Date(ms)),
    ...days.map((ms) => new Date(ms - (ms % DAY_MS))),
    new Date(now + DAY_MS),
    null,
  ];
}

async function everyReport(): Promise<TrialBalance[]> {
  const reports: TrialBalance[] = [];
  for (const by of ['recorded', 'effective'] satisfies TimeOf[]) {
    for (const at of instants()) reports.push(await trialBalance(pool, { by, at }));
  }
  return reports;
}

describe('a trial balance', () => {
  it('is the sum of the entries at any instant, by either time, and 0 per commodity', async () => {
    for (const report of await everyReport()) {
      const expected = await summed(report);
      expect(balancesOf(report)).toEqual(new Map([...expected].filter(([, sum]) => sum !== 0n)));
      expect(report.totals.every(({ total }) => total === 0n)).toBe(true);
    }
  });

  it('is the same with snapshots, with some of them dropped, and without any', async () => {
    const before = await everyReport();
    expect(await buildSnapshots(pool)).toBe(DAYS);
    expect(await buildSnapshots(pool)).toBe(0);
    const same = async (): Promise<void> => {
      for (const { by, at, recordedBefore, ...report } of before) {
        const again = await trialBalance(pool, {
          by,
          at: new Date(at),
          recordedBefore,
        });
        expect(balancesOf(again)).toEqual(balancesOf({ by, at, recordedBefore, ...report }));
      }
    };
    await same();
    await dropSnapshots(pool, new Date(Date.now() - 3 * DAY_MS).toISOString().slice(0, 10));
    await same();
    await dropSnapshots(pool);
    expect((await pool.query('SELECT FROM ledger_balance_snapshots')).rowCount).toBe(0);
    await same();
    await buildSnapshots(pool);
  });

  it('stays what it was when a transaction that ran during it commits', async () => {
    const { accountId } = await fixture.account({ credits: '0' });
    const client = await pool.connect();
    await client.query('BEGIN');
    const item = { provider: 'stripe' as const, orderId: null, amountMinor: 5n, currency: 'USD' };
    await bookSuspense(client, { ...item, reference: newId(), why: 'no_order' }, 'USD');
    await topup(accountId);
    const during = await trialBalance(pool, { by: 'recorded', at: null });
    const effective = await trialBalance(pool, { by: 'effective', at: null });
    await client.query('COMMIT');
    client.release();
    const after = await trialBalance(pool, { by: 'recorded', at: null });
    expect(balancesOf(after)).not.toEqual(balancesOf(during));
    expect(new Date(during.at) < new Date(after.at)).toBe(true);
    expect(balancesOf(during)).toEqual(withoutZeros(await summed(during)));
    expect(balancesOf(effective)).toEqual(withoutZeros(await summed(effective)));
  });

  it('is not changed by a transaction that began before it and posts after it', async () => {
    const client = await pool.connect();
    await client.query('BEGIN');
    await client.query('SELECT now()');
    const report = await trialBalance(pool, { by: 'recorded', at: null });
    const item = { provider: 'stripe' as const, orderId: null, amountMinor: 7n, currency: 'USD' };
    await bookSuspense(client, { ...item, reference: newId(), why: 'no_order' }, 'USD');
    await client.query('COMMIT');
    client.release();
    expect(withoutZeros(await summed(report))).toEqual(balancesOf(report));
  });

  it('is not changed by postings under a clock that was set back', async () => {
    const { accountId } = await fixture.account({ credits: '0' });
    // Seen from tomorrow's mark, today's clock was set back.
    await fixture.owner.query(
      `INSERT INTO ledger_horizons (xid, at, last_ledger_id)
       SELECT pg_current_xact_id(), clock_timestamp() + interval '1 day', last_value FROM ledger_transaction_blocks`,
    );
    const report = await trialBalance(pool, { by: 'recorded', at: null });
    await topup(accountId);
    expect(withoutZeros(await summed(report))).toEqual(balancesOf(report));
  });
});

describe('the statement of a ledger account', () => {
  it('has an opening balance, every entry once over its pages, and a closing balance', async () => {
    const accounts = await listLedgerAccounts(pool, { limit: 500, after: null, codePrefix: null });
    const now = Date.now();
    const ranges = [
      [null, null],
      [new Date(now - 3 * DAY_MS), new Date(now - DAY_MS)],
      [new Date(now - 4 * DAY_MS - (now % DAY_MS)), new Date(now - (now % DAY_MS))],
    ] as const;
    let entries = 0;
    for (const { id, code } of accounts) {
      for (const [from, to] of ranges) {
        const { lines, opening, closing } = await wholeStatement(id, from, to);
        expect(lines.reduce((sum, { amount }) => sum + amount, opening)).toBe(closing);
        expect(lines.at(-1)?.balance ?? closing).toBe(closing);
        const at = await trialBalance(pool, { by: 'recorded', at: to });
        expect(at.balances.find((each) => each.code === code)?.balance ?? 0n).toBe(closing);
        entries += lines.length;
      }
    }
    expect(entries).toBeGreaterThan(300);
  });

  it('by effective time is the sum of the entries in the order of events, as known at any time', async () => {
    const accounts = await listLedgerAccounts(pool, { limit: 500, after: null, codePrefix: null });
    const now = Date.now();
    const day = (count: number) => new Date(now - (now % DAY_MS) - count * DAY_MS);
    let lateLines = 0;
    for (const [from, to, recordedBefore] of [
      [null, null, null],
      [null, day(2), day(1)],
      [day(4), day(2), null],
      [day(3), day(1), new Date(now - 3 * DAY_MS)],
    ] as const) {
      const report = await trialBalance(pool, { by: 'effective', at: to, recordedBefore });
      const opening = await trialBalance(pool, { by: 'effective', at: from, recordedBefore });
      const { rows } = await pool.query<{ id: string; count: number }>(
        `SELECT e.ledger_account_id::text AS id, count(*)::int AS count FROM ledger_entries e
         JOIN ledger_transactions t ON t.id = e.transaction_id WHERE t.recorded_at < $1 AND t.effective_at < $2
           AND t.effective_at >= $3 GROUP BY 1`,
        [report.recordedBefore, report.at, from ?? '-infinity'],
      );
      for (const { id, code } of accounts) {
        const by = { by: 'effective', recordedBefore: report.recordedBefore } as const;
        const statement = await wholeStatement(id, from, to, by);
        const at = ({ balances }: TrialBalance) => balances.find((each) => each.code === code)?.balance ?? 0n;
        expect({ code, closing: statement.closing }).toEqual({ code, closing: at(report) });
        if (from !== null) expect(statement.opening).toBe(at(opening));
        expect(statement.lines.length).toBe(rows.find((row) => row.id === id.toString())?.count ?? 0);
        const { lines } = statement;
        expect(lines.at(-1)?.balance ?? statement.closing).toBe(statement.closing);
        const times = lines.map(({ effectiveAt }) => effectiveAt);
        expect(times).toEqual([...times].sort());
        lateLines += lines.filter(({ recordedAt, effectiveAt }) => recordedAt !== effectiveAt).length;
      }
    }
    expect(lateLines).toBeGreaterThan(50);
  });

  it('does not exist for an unknown account', async () => {
    const query = { from: null, to: null, limit: 5, after: null };
    expect(await ledgerAccountStatement(pool, 99_999_999n, query)).toBeNull();
  });
});

async function wholeStatement(
  id: bigint,
  from: Date | null,
  to: Date | null,
  by: Pick<LedgerStatementQuery, 'by' | 'recordedBefore'> = {},
) {
  const lines: LedgerLine[] = [];
  for (let after: LedgerCursor | null = null; ;) {
    const page = await ledgerAccountStatement(pool, id, { ...by, from, to, limit: 7, after });
    if (!page) throw new Error('no account');
    lines.push(...page.lines);
    if (page.next === null) {
      const ids = lines.map(({ transactionId, ordinal }) => `${transactionId} ${ordinal}`);
      expect(new Set(ids).size).toBe(ids.length);
      return { ...page, lines };
    }
    after = page.next;
  }
}

function withoutZeros(sums: Map<string, bigint>): Map<string, bigint> {
  return new Map([...sums].filter(([, sum]) => sum !== 0n));
}

async function topup(accountId: string): Promise<void> {
  const credits = { credits: nanos(1_000_000_000n), paidMinor: 130n, rate: '1.3' as const };
  await recordTopup(pool, { accountId, provider: 'manual', paymentId: newId(), ...credits, currency: 'USD' });
}
