import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { inTransaction } from '#database/database.js';
import { parseAmount } from '#money/amount.js';
import { priceCredits } from '#topup/conversion.js';
import { newId } from '#platform/ids.js';
import { unsaid } from '../../../test/support/finding-words.js';
import { createLedgerFixture, type LedgerFixture } from '../../../test/support/ledger.js';
import { recordTopup } from '../../../test/support/topups.js';
import type { Control, ControlContext } from '../control.js';
import { inSnapshot } from '../snapshot.js';
import { bankMapping } from './bank/bank-csv.js';
import { bankControl } from './bank/bank.control.js';
import { importBankCsv, saveBankAccount } from './bank/bank.import.js';
import { matchBankLine, matchBankLines, undoBankMatch } from './bank/bank-match.js';
import { listCoverage, requireDays, todayIn } from './coverage.js';
import type { FileSource } from './csv-rows.js';
import { paymentsControl } from './payments/payments.control.js';
import { payoutsControl } from './payments/payouts.control.js';
import { listMatches } from './payments/payment-matching.js';
import { AcceptanceNeedsTwo, type AcceptanceRequest, acceptLine } from './line-acceptance.js';
import { importStripeCsv } from './report.import.js';
import { ReportRefused } from './report-line.js';

/** What reports cover, and that anything outside is never considered good. All of it happens in the first days of 2026. */

let fixture: LedgerFixture;
beforeAll(async () => {
  fixture = await createLedgerFixture();
  const mapping = bankMapping.parse({
    date: { column: 'date' },
    amount: { column: 'amount' },
    currency: { fixed: 'USD' },
    reference: ['text'],
  });
  for (const id of ['main', 'other'])
    await inTransaction(fixture.billing, (client) =>
      saveBankAccount(client, { id, mapping }, { actor: 'cli:test', requestId: null }),
    );
});
afterAll(() => fixture?.close());
afterEach(async () => {
  await unguarded(
    `TRUNCATE provider_reports, provider_report_lines, topups, bank_lines, bank_matches CASCADE`,
  );
});

/** Runs as the owner, past every rule. */
async function unguarded(sql: string, values: unknown[] = []): Promise<void> {
  const client = await fixture.owner.connect();
  try {
    await client.query('BEGIN');
    await client.query('SET LOCAL session_replication_role = replica');
    await client.query(sql, values);
    await client.query('COMMIT');
  } finally {
    client.release();
  }
}

const text = (content: string): FileSource =>
  async function* () {
    yield content;
  };

const HEADER =
  'balance_transaction_id,created_utc,currency,gross,fee,reporting_category,source_id,payment_intent_id,automatic_payout_id';
const PAYOUTS = 'payout_id,effective_at_utc,balance_transaction_id,currency,gross,fee,reporting_category';

function importStripe(from: string, to: string, rows: readonly string[] = [], header = HEADER) {
  return importStripeCsv(fixture.billing, text([header, ...rows].join('\n')), {
    actor: 'cli:test',
    dryRun: false,
    days: { from, to },
  });
}

async function importBank(
  days: { from: string; to: string },
  rows: readonly string[] = [],
  accountId = 'main',
) {
  const source = text(['date,amount,text', ...rows].join('\n'));
  return importBankCsv(fixture.billing, { accountId, source }, { actor: 'cli:test', dryRun: false, days });
}

/** A payment recorded at a given time. */
async function bought(paymentId: string, at: string, provider: 'stripe' | 'manual' = 'stripe') {
  const { accountId } = await fixture.account({ credits: '0' });
  const topup = { ...priceCredits(parseAmount('10'), '1.3'), rate: '1.3', currency: 'USD' } as const;
  await recordTopup(fixture.billing, { accountId, provider, paymentId, ...topup });
  await unguarded('UPDATE topups SET recorded_at = $2 WHERE payment_id = $1', [paymentId, at]);
}

async function found(control: Control, context: Partial<ControlContext> = {}): Promise<string[]> {
  const whole = { horizon: { at: 'infinity', lastLedgerId: 0n }, graceMs: 0, before: null, limit: 100 };
  const { count, items } = await inSnapshot(fixture.billing, (client) =>
    control.check(client, { ...whole, ...context }),
  );
  expect(count).toBe(items.length);
  expect(items.flatMap((item) => unsaid(control, item))).toEqual([]);
  return items.map(({ subject, state }) => `${state} ${subject}`).sort();
}

const coverage = async () => {
  const lists = await inSnapshot(fixture.billing, listCoverage);
  return lists.map(({ provider, bankAccountId, of, covered, gaps }) => [
    [provider, bankAccountId, of].filter((part) => part !== null).join(' '),
    covered.map(({ from, to }) => `${from?.slice(0, 16)} ${to.slice(0, 16)}`),
    gaps.map(({ from, to }) => `${from.slice(0, 16)} ${to.slice(0, 16)}`),
  ]);
};

/** Long enough that nothing is overdue. */
const NEVER = { reportOverdueMs: 1e12 };

describe('the days of a file', () => {
  it('must be given, in order and in the past', async () => {
    const today = await todayIn(fixture.billing, 'UTC');
    const refusal = (given: { from?: string; to?: string }) => {
      try {
        return requireDays(given, today);
      } catch (error) {
        const { code, param } = error as { code: string; param: string };
        return `${code} ${param}`;
      }
    };
    expect(refusal({})).toBe('missing_required_parameter from');
    expect(refusal({ from: '2026-01-01' })).toBe('missing_required_parameter to');
    expect(refusal({ from: '2026-01-02', to: '2026-01-02' })).toBe('invalid_value to');
    expect(refusal({ from: '2026-01-01', to: '2999-01-02' })).toBe('invalid_value to');
    expect(refusal({ from: '2020-01-01', to: today })).toEqual({ from: '2020-01-01', to: today });
  });

  it('join those of the next file, by provider and account, and show the gap between them', async () => {
    await importStripe('2026-01-01', '2026-02-01');
    await importStripe('2026-02-01', '2026-03-01');
    await importStripe('2026-03-02', '2026-03-03');
    await importStripe('2026-01-01', '2026-01-02', [], PAYOUTS);
    await importBank({ from: '2026-01-01', to: '2026-01-31' });
    await importBank({ from: '2026-01-31', to: '2026-02-01' });
    expect(await coverage()).toEqual([
      [
        'stripe activity',
        ['2026-01-01T00:00 2026-03-01T00:00', '2026-03-02T00:00 2026-03-03T00:00'],
        ['2026-03-01T00:00 2026-03-02T00:00'],
      ],
      ['stripe payouts', ['2026-01-01T00:00 2026-01-02T00:00'], []],
      ['bank main lines', ['2026-01-01T00:00 2026-02-01T00:00'], []],
      ['bank other lines', [], []],
    ]);
  });

  it('are counted in the zone of the bank', async () => {
    const { rows } = await fixture.owner.query<{ mapping: object }>(
      `SELECT mapping FROM bank_accounts WHERE id = 'main'`,
    );
    const mapping = bankMapping.parse({ ...rows[0]!.mapping, timeZone: 'Asia/Tokyo' });
    const save = (id: string, kept: typeof mapping) =>
      inTransaction(fixture.billing, (client) =>
        saveBankAccount(client, { id, mapping: kept }, { actor: 'cli:test', requestId: null }),
      );
    await save('main', mapping);
    await importBank({ from: '2026-01-01', to: '2026-01-02' });
    await save('main', bankMapping.parse(rows[0]!.mapping));
    expect((await coverage())[0]).toEqual(['bank main lines', ['2025-12-31T15:00 2026-01-01T15:00'], []]);
    // PostgreSQL would take the offset for hours west of Greenwich.
    for (const timeZone of ['Moon/Sea', '+08:00'])
      expect(() => bankMapping.parse({ ...rows[0]!.mapping, timeZone })).toThrow('time zone');
  });

  it('contain every line: the number of one outside is named, and the file refused', async () => {
    const days = { from: '2026-01-01', to: '2026-02-01' };
    const faults = async (run: Promise<unknown>) => {
      const error = await run.catch((refused: unknown) => refused);
      return (error as ReportRefused).faults.map(({ line, column }) => `${line} ${column}`);
    };
    expect(await faults(importBank(days, ['2026-01-01,1,x', '2026-02-01,1,x', '2025-12-31,1,x']))).toEqual([
      '3 date',
      '4 date',
    ]);
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
    expect(await faults(importBank({ ...days, to: '2999-01-01' }, [`${tomorrow},1,x`]))).toEqual(['2 date']);
    const late = 'txn_1,2026-02-01 00:00:00,usd,13.00,0,charge,ch_1,pi_1_4,';
    expect(await faults(importStripe(days.from, days.to, [late]))).toEqual(['2 created_utc']);
  });

  it('are not covered by a list of payouts, which contains what happened before them', async () => {
    const early = 'txn_1,2025-12-30 00:00:00,usd,13.00,0,charge,ch_1,pi_1_5,po_1';
    expect(await importStripe('2026-01-01', '2026-02-01', [early])).toMatchObject({ added: 1, covers: null });
  });
});

describe('a payment that no report covers', () => {
  it('waits, until its report is overdue', async () => {
    await importStripe('2026-01-01', '2026-02-01');
    expect(await found(paymentsControl)).toEqual([]);
    await bought('pi_1_6', '2026-02-03T00:00:00Z');
    expect(await found(paymentsControl, NEVER)).toEqual([]);
    expect(await found(paymentsControl)).toEqual(['report_overdue report:stripe']);
    await importStripe('2026-02-01', '2026-03-01', [
      'txn_1,2026-02-03 00:00:00,usd,13,0,charge,ch_1,pi_1_6,',
    ]);
    expect(await found(paymentsControl)).toEqual([]);
  });

  it('is overdue if no report was ever imported', async () => {
    await bought('pi_1_7', '2026-02-03T00:00:00Z');
    expect(await found(paymentsControl)).toEqual(['report_overdue report:stripe']);
    expect(await found(paymentsControl, NEVER)).toEqual([]);
  });

  it('counts in a gap, and at the end of a period', async () => {
    await importStripe('2026-01-01', '2026-02-01');
    await bought('pi_gap_8', '2026-02-03T00:00:00Z');
    await bought('pi_late_8', '2026-03-03T00:00:00Z');
    expect(await found(paymentsControl, { before: '2026-03-01T00:00:00Z' })).toEqual([
      'not_covered payment:stripe:pi_gap_8',
    ]);
    const listed = async (before: string | null) => {
      const query = { provider: null, from: null, to: null, states: null, graceMs: 0, before };
      const items = await inSnapshot(fixture.billing, (client) =>
        listMatches(client, query, { limit: 9, after: null }),
      );
      return items.map(({ state, id }) => `${state} ${id}`);
    };
    expect(await listed('2026-03-01T00:00:00Z')).toEqual(['not_covered pi_gap_8']);
    expect(await listed(null)).toEqual(['waiting pi_gap_8', 'waiting pi_late_8']);
    await importStripe('2026-02-05', '2026-03-01');
    expect(await found(paymentsControl, NEVER)).toEqual(['not_covered payment:stripe:pi_gap_8']);
    await importStripe('2026-02-01', '2026-02-05');
    expect(await found(paymentsControl, NEVER)).toEqual(['missing_there payment:stripe:pi_gap_8']);
  });
});

describe('a round over recent things', () => {
  const recent = { ...NEVER, scope: 'recent' as const, since: '2026-02-10T00:00:00Z' };

  it('finds what a full one finds of them, and leaves the rest', async () => {
    await bought('pi_old_9', '2026-01-03T00:00:00Z');
    await bought('pi_new_9', '2026-02-12T00:00:00Z');
    await importStripe('2026-01-01', '2026-03-01', [
      'txn_1,2026-01-05 00:00:00,usd,5,0,charge,ch_1,pi_theirs_9,',
      'txn_2,2026-02-13 00:00:00,usd,5,0,charge,ch_2,pi_new_theirs_9,',
    ]);
    const old = ['missing_here payment:stripe:pi_theirs_9', 'missing_there payment:stripe:pi_old_9'];
    const fresh = ['missing_here payment:stripe:pi_new_theirs_9', 'missing_there payment:stripe:pi_new_9'];
    expect(await found(paymentsControl, NEVER)).toEqual([...old, ...fresh].sort());
    // Its report has just arrived, so everything in it is checked, however old.
    expect(await found(paymentsControl, recent)).toEqual([...old, ...fresh].sort());
    await unguarded(`UPDATE provider_reports SET finished_at = '2026-01-01'`);
    await unguarded(`UPDATE provider_report_lines SET recorded_at = happened_at`);
    expect(await found(paymentsControl, recent)).toEqual(fresh);
  });

  it('compares an item in full, however old a part of it is', async () => {
    await bought('pi_1_10', '2026-01-03T00:00:00Z');
    await importStripe('2026-01-01', '2026-03-01', [
      'txn_1,2026-01-03 00:00:00,usd,13.00,0,charge,ch_1,pi_1_10,',
      'txn_2,2026-02-13 00:00:00,usd,13.00,0,charge,ch_1,pi_1_10,',
    ]);
    await unguarded(`UPDATE provider_reports SET finished_at = '2026-01-01'`);
    await unguarded(`UPDATE provider_report_lines SET recorded_at = happened_at`);
    expect(await found(paymentsControl, recent)).toEqual(['twice payment:stripe:pi_1_10']);
  });
});

describe('a payout', () => {
  const po = 'po_1,2026-01-10 00:00:00,txn_9,usd,-13.00,0,payout';

  it('that no line names counts once reports go beyond it, unless it was made by hand', async () => {
    await importStripe('2026-01-01', '2026-02-01', [po], PAYOUTS);
    expect(await found(payoutsControl)).toEqual([]);
    expect(await found(payoutsControl, { before: '2026-01-11T00:00:00Z' })).toEqual([
      'not_covered payout:stripe:po_1',
    ]);
    await importStripe('2026-01-01', '2026-01-12');
    expect(await found(payoutsControl)).toEqual([]);
    await importStripe('2026-01-12', '2026-02-01');
    expect(await found(payoutsControl)).toEqual(['lines_missing payout:stripe:po_1']);
    await fixture.billing.query(
      `INSERT INTO provider_payouts (provider, payout_id, automatic) VALUES ('stripe', 'po_1', false)`,
    );
    expect(await found(payoutsControl)).toEqual([]);
    await unguarded('DELETE FROM provider_payouts');
  });

  it('that is in no report is overdue, and counts at the end of a period', async () => {
    await importStripe('2026-01-01', '2026-02-01', [
      'txn_1,2026-01-03 00:00:00,usd,13,0,charge,ch_1,pi_1_12,po_1',
    ]);
    expect(await found(payoutsControl, NEVER)).toEqual([]);
    expect(await found(payoutsControl)).toEqual(['report_overdue report:stripe:payouts']);
    expect(await found(payoutsControl, { before: '2026-02-01T00:00:00Z' })).toEqual([
      'not_covered payout:stripe:po_1',
    ]);
    await importStripe('2026-01-01', '2026-01-05', [], PAYOUTS);
    await importStripe('2026-01-20', '2026-02-01', [], PAYOUTS);
    expect(await found(payoutsControl)).toEqual(['not_covered payout:stripe:po_1']);
    await importStripe('2026-01-05', '2026-01-20', [], PAYOUTS);
    expect(await found(payoutsControl)).toEqual(['missing_there payout:stripe:po_1']);
  });
});

describe('a line that a later report changes', () => {
  const line = (id: string, amount: string) =>
    `txn_${id},2026-01-03 00:00:00,usd,${amount},0,charge,ch_1,pi_${id},`;
  const reportOf = (id: string, amount: string) =>
    importStripe('2026-01-01', '2026-02-01', [line(id, amount)]);
  // A new person for each test, because accepted amounts add up per person.
  let one: string;
  beforeEach(() => {
    one = `user:${newId()}`;
  });
  const accept = (id: string, more: Partial<AcceptanceRequest> = {}) =>
    inTransaction(fixture.billing, (client) =>
      acceptLine(client, {
        provider: 'stripe',
        lineId: `txn_${id}`,
        through: null,
        reason: 'as they wrote to us',
        requestedBy: one,
        approvedBy: null,
        requestId: newId(),
        auditId: null,
        house: 'USD',
        ...more,
      }),
    );

  it('differs until someone accepts it, and again in a third version', async () => {
    await bought('pi_acc', '2026-01-03T00:00:00Z');
    await reportOf('acc', '13.00');
    await expect(accept('acc')).rejects.toMatchObject({ code: 'conflict' });
    await expect(accept('nobody')).rejects.toMatchObject({ code: 'not_found' });
    await reportOf('acc', '12.00');
    expect(await found(paymentsControl)).toEqual(['differs payment:stripe:pi_acc']);
    const requestId = newId();
    const accepted = await accept('acc', { requestId });
    expect(await accept('acc', { requestId })).toEqual(accepted);
    await expect(accept('acc', { requestId, reason: 'another' })).rejects.toMatchObject({ code: 'conflict' });
    await expect(accept('acc')).rejects.toMatchObject({ code: 'conflict' });
    expect(await found(paymentsControl)).toEqual([]);
    const query = { provider: null, from: null, to: null, states: ['accepted' as const], graceMs: 0 };
    const shown = await inSnapshot(fixture.billing, (client) =>
      listMatches(client, query, { limit: 9, after: null }),
    );
    expect(shown).toMatchObject([{ id: 'pi_acc', state: 'accepted' }]);
    await reportOf('acc', '11.00');
    expect(await found(paymentsControl)).toEqual(['differs payment:stripe:pi_acc']);
    await expect(fixture.billing.query('DELETE FROM provider_line_acceptances')).rejects.toThrow();
    await expect(fixture.owner.query('DELETE FROM provider_line_acceptances')).rejects.toThrow();
  });

  it('differs again in an earlier version, the first or one between', async () => {
    await bought('pi_back', '2026-01-03T00:00:00Z');
    for (const amount of ['13.00', '12.00', '11.00']) await reportOf('back', amount);
    await accept('back', { approvedBy: 'user:2' });
    await reportOf('back', '11.00');
    expect(await found(paymentsControl)).toEqual([]);
    await reportOf('back', '12.00');
    expect(await found(paymentsControl)).toEqual(['differs payment:stripe:pi_back']);
    await accept('back', { approvedBy: 'user:2' });
    await reportOf('back', '13.00');
    expect(await found(paymentsControl)).toEqual(['differs payment:stripe:pi_back']);
  });

  it('can be accepted in its later version, but not if our books have neither', async () => {
    await bought('pi_later', '2026-01-03T00:00:00Z');
    await reportOf('later', '12.00');
    await reportOf('later', '13.00');
    await accept('later', { approvedBy: 'user:2' });
    expect(await found(paymentsControl)).toEqual([]);
    await bought('pi_neither', '2026-01-03T00:00:00Z');
    await reportOf('neither', '12.00');
    await reportOf('neither', '11.00');
    await accept('neither', { approvedBy: 'user:2' });
    expect(await found(paymentsControl)).toEqual(['differs payment:stripe:pi_neither']);
  });

  it('needs a second person above the limit, who agrees to what the first one saw', async () => {
    await reportOf('big', '13.00');
    await reportOf('big', '20.01');
    const refused = await accept('big').catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(AcceptanceNeedsTwo);
    const { through, amount } = refused as AcceptanceNeedsTwo;
    expect(amount).toBe(20_010_000_000n);
    await reportOf('big', '19.00');
    await accept('big', { through, approvedBy: 'user:2' });
    expect(await found(paymentsControl)).toEqual(['differs payment:stripe:pi_big']);
  });

  it('needs a second person for what would be split into small ones, and for another currency', async () => {
    await reportOf('one', '1.00');
    await reportOf('two', '1.00');
    await reportOf('one', '12.00');
    await reportOf('two', '12.00');
    await accept('one');
    await expect(accept('two')).rejects.toBeInstanceOf(AcceptanceNeedsTwo);
    await accept('two', { requestedBy: 'user:2' });
    const euros = (amount: string) =>
      importStripe('2026-01-01', '2026-02-01', [line('eur', amount).replace('usd', 'eur')]);
    await euros('0.02');
    await euros('0.01');
    await expect(accept('eur', { requestedBy: 'user:3' })).rejects.toBeInstanceOf(AcceptanceNeedsTwo);
  });

  it('or a payout that needs no line', async () => {
    await importStripe('2026-01-01', '2026-02-01');
    await importStripe(
      '2026-01-01',
      '2026-02-01',
      ['po_2,2026-01-10 00:00:00,txn_po,usd,-13.00,0,payout'],
      PAYOUTS,
    );
    expect(await found(payoutsControl)).toEqual(['lines_missing payout:stripe:po_2']);
    await accept('po');
    expect(await found(payoutsControl)).toEqual([]);
  });
});

describe('a transfer', () => {
  const topup = async (paymentId: string): Promise<string> => {
    await bought(paymentId, '2026-01-10T12:00:00Z', 'manual');
    const { rows } = await fixture.billing.query<{ id: string }>('SELECT id FROM topups');
    return rows[0]!.id;
  };

  it('is missing only if files of all accounts cover its time', async () => {
    const id = await topup('bank-0');
    expect(await found(bankControl, NEVER)).toEqual([]);
    expect(await found(bankControl)).toEqual([
      'report_overdue report:bank:main',
      'report_overdue report:bank:other',
    ]);
    expect(await found(bankControl, { before: '2026-02-01T00:00:00Z' })).toEqual([`not_covered topup:${id}`]);
    await importBank({ from: '2026-01-01', to: '2026-02-01' });
    expect(await found(bankControl)).toEqual(['report_overdue report:bank:other']);
    await importBank({ from: '2026-01-01', to: '2026-01-05' }, [], 'other');
    await importBank({ from: '2026-01-20', to: '2026-02-01' }, [], 'other');
    expect(await found(bankControl)).toEqual([`not_covered topup:${id}`]);
    await importBank({ from: '2026-01-05', to: '2026-01-20' }, [], 'other');
    expect(await found(bankControl)).toEqual([`missing_there topup:${id}`]);
  });

  it('whose posting is refused does not stop others from being matched, and is named', async () => {
    await topup('bank-1');
    await bought('bank-2', '2026-01-10T12:00:00Z', 'manual');
    for (const id of ['main', 'other'])
      await importBank(
        { from: '2026-01-01', to: '2026-02-01' },
        id === 'main' ? ['2026-01-11,13.00,bank-1', '2026-01-11,13.00,bank-2'] : [],
        id,
      );
    const { rows } = await fixture.billing.query<{ id: bigint }>(
      `SELECT id FROM bank_lines WHERE reference = 'bank-1'`,
    );
    // Someone else took the reference of its posting.
    await unguarded(
      `UPDATE ledger_transactions SET reference = $1 WHERE id = (SELECT transaction_id FROM topups WHERE payment_id = 'bank-1')`,
      [`bank-transfer:${rows[0]!.id}:1`],
    );
    expect(await matchBankLines(fixture.billing, 'USD')).toBe(1);
    expect(await matchBankLines(fixture.billing, 'USD')).toBe(0);
    expect((await found(bankControl)).filter((each) => each.includes('line'))).toEqual([
      `refused bank-line:${rows[0]!.id}`,
    ]);
    const lineId = rows[0]!.id;
    const setAside = { bankLineId: BigInt(lineId), kind: 'none', subject: '' } as const;
    await inTransaction(fixture.billing, async (client) => {
      await matchBankLine(client, setAside, { actor: 'user:1', note: 'not ours', house: 'USD' });
      await undoBankMatch(client, BigInt(lineId), 'user:1');
    });
    expect((await found(bankControl)).filter((each) => each.includes('line'))).not.toContain(
      `refused bank-line:${lineId}`,
    );
    await unguarded('DELETE FROM bank_matches WHERE bank_line_id = $1', [lineId]);
    await unguarded(
      `UPDATE ledger_transactions SET reference = 'mended' WHERE id = (SELECT transaction_id FROM topups WHERE payment_id = 'bank-1')`,
    );
    expect(await matchBankLines(fixture.billing, 'USD')).toBe(1);
    expect(await found(bankControl)).toEqual([]);
  });

  it('that a bank dates ahead of UTC is posted as of now', async () => {
    await bought('bank-3', '2026-01-10T12:00:00Z', 'manual');
    await importBank({ from: '2026-01-01', to: '2026-02-01' }, ['2026-01-11,13.00,bank-3']);
    await unguarded(`UPDATE bank_lines SET booked_on = current_date + 1`);
    expect(await matchBankLines(fixture.billing, 'USD')).toBe(1);
    const { rows } = await fixture.billing.query<{ past: boolean }>(
      `SELECT effective_at <= clock_timestamp() AS past FROM ledger_transactions WHERE kind = 'bank-transfer'
       ORDER BY id DESC LIMIT 1`,
    );
    expect(rows).toEqual([{ past: true }]);
  });
});
