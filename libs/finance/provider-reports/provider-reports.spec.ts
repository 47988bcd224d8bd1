import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { inTransaction } from '#database/database.js';
import { applyDispute } from '#ledger/postings/chargeback.js';
import { beginTopupRefund, endTopupRefund } from '#ledger/postings/topup-refund.js';
import { checkLedger } from '#ledger/checks/ledger-check.js';
import { nanos, parseAmount } from '#money/amount.js';
import { newId } from '#platform/ids.js';
import { priceCredits } from '#topup/conversion.js';
import { unsaid } from '../../../test/support/finding-words.js';
import { createLedgerFixture, type LedgerFixture } from '../../../test/support/ledger.js';
import { recordTopup } from '../../../test/support/topups.js';
import { inSnapshot } from '../snapshot.js';
import { bankMapping } from './bank/bank-csv.js';
import { importBankCsv, saveBankAccount } from './bank/bank.import.js';
import { bankControl } from './bank/bank.control.js';
import { lockMatching, matchBankLine, matchBankLines, undoBankMatch } from './bank/bank-match.js';
import { listBankItems } from './bank/bank-matching.js';
import type { FileSource } from './csv-rows.js';
import { postReportLines } from './line-postings.js';
import { acceptLine } from './line-acceptance.js';
import type { MatchState } from './payments/match.js';
import { listMatches, summariseMatches } from './payments/payment-matching.js';
import { paymentsControl } from './payments/payments.control.js';
import { payoutsControl } from './payments/payouts.control.js';
import { importStripeCsv } from './report.import.js';
import { ReportRefused } from './report-line.js';
import { importSandbox, playTopup } from './sandbox-books.js';
import { suspenseControl } from './suspense.control.js';

const DAY = 86_400_000;
const CONTEXT = {
  horizon: { at: '-infinity', lastLedgerId: 0n },
  graceMs: 0,
  before: null,
  limit: 100,
};

let fixture: LedgerFixture;
beforeAll(async () => {
  fixture = await createLedgerFixture();
});
afterAll(() => fixture?.close());

/** Each test has its own database, because records of other tests would be missing from its reports. */
beforeEach(async () => {
  await fixture.close();
  fixture = await createLedgerFixture();
});

const text = (content: string): FileSource =>
  async function* () {
    yield content;
  };

/** Fixed, so that a line has the same time in every report. */
const NOW = Date.now();
/** The time this many days from now, as Stripe writes it. */
const at = (days: number) => new Date(NOW + days * DAY).toISOString().slice(0, 19).replace('T', ' ');
const dayAt = (days: number) => at(days).slice(0, 10);
const WIDE = { from: '2020-01-01', to: '2999-01-01' };
/** Days without events. */
const LONG_AGO = { from: '2020-01-01', to: '2020-02-01' };

const ACTIVITY =
  'balance_transaction_id,created_utc,currency,gross,fee,reporting_category,source_id,payment_intent_id,automatic_payout_id,description';
type Row = [id: string, category: string, gross: string, fee: string, source: string, payment: string];

function activity(rows: readonly Row[], payout = ''): string {
  const lines = rows.map(([id, category, gross, fee, source, payment]) =>
    [id, at(0), 'usd', gross, fee, category, source, payment, payout, ''].join(','),
  );
  return [ACTIVITY, ...lines].join('\n');
}

function payouts(...rows: [id: string, payoutId: string, gross: string][]): string {
  const lines = rows.map(([id, payoutId, gross]) =>
    [payoutId, at(0), id, 'usd', gross, '0.00', 'payout'].join(','),
  );
  return [
    'payout_id,effective_at_utc,balance_transaction_id,currency,gross,fee,reporting_category',
    ...lines,
  ].join('\n');
}

async function importFile(content: string, days = WIDE) {
  const result = await importStripeCsv(fixture.billing, text(content), {
    actor: 'cli:test',
    dryRun: false,
    days,
  });
  await postReportLines(fixture.billing, { currency: 'USD' });
  return result;
}

async function buy(paymentId: string, credits = '10', provider: 'stripe' | 'manual' = 'stripe') {
  const { accountId } = await fixture.account({ credits: '0' });
  const bought = priceCredits(parseAmount(credits), '1.3');
  const topup = { accountId, provider, paymentId, ...bought, rate: '1.3', currency: 'USD' } as const;
  return { accountId, ...(await recordTopup(fixture.billing, topup)) };
}

/** Creates top-ups in the past, which only the owner may. */
async function ageTopups(by: string): Promise<void> {
  await fixture.owner.query(`ALTER TABLE topups DISABLE TRIGGER USER`);
  await fixture.owner.query('UPDATE topups SET recorded_at = recorded_at - $1::interval', [by]);
  await fixture.owner.query(`ALTER TABLE topups ENABLE TRIGGER USER`);
}

async function refund(topupId: string, providerRefundId: string): Promise<void> {
  const request = {
    topupId,
    credits: nanos(parseAmount('5')),
    reason: 'asked',
    actor: 'user:1',
    requestId: newId(),
  };
  await inTransaction(fixture.billing, async (client) => {
    const { id: refundId } = await beginTopupRefund(client, request);
    await endTopupRefund(client, { refundId, providerRefundId, outcome: 'succeeded' });
  });
}

async function dispute(
  bought: { topupId: string; accountId: string },
  state: 'open' | 'won',
  disputeId = 'dp_1',
) {
  const { topupId, accountId } = bought;
  const fact = { provider: 'stripe', disputeId, topupId, accountId, amountMinor: 1300n, state } as const;
  await inTransaction(fixture.billing, (client) => applyDispute(client, fact, 'USD'));
}

async function balanceOf(code: string): Promise<bigint> {
  const { rows } = await fixture.billing.query<{ sum: string }>(
    `SELECT coalesce(sum(e.amount), 0)::text AS sum FROM ledger_entries e JOIN ledger_accounts a ON a.id = e.ledger_account_id
     WHERE a.code = $1`,
    [code],
  );
  return BigInt(rows[0]!.sum);
}

function accept(lineId: string) {
  return inTransaction(fixture.billing, (client) =>
    acceptLine(client, {
      provider: 'stripe',
      lineId,
      through: null,
      reason: 'as they wrote',
      requestedBy: 'user:1',
      approvedBy: 'user:2',
      requestId: newId(),
      auditId: null,
      house: 'USD',
    }),
  );
}

const NONE = { provider: null, from: null, to: null, states: null, graceMs: 0 };

async function states(): Promise<Record<string, MatchState>> {
  const items = await inSnapshot(fixture.billing, (client) =>
    listMatches(client, NONE, { limit: 100, after: null }),
  );
  return Object.fromEntries(items.map(({ kind, id, state }) => [`${kind} ${id}`, state]));
}

async function check(control: typeof paymentsControl) {
  const found = await inSnapshot(fixture.billing, (client) => control.check(client, CONTEXT));
  expect(found.items.flatMap((item) => unsaid(control, item))).toEqual([]);
  return found;
}

/** Two payments, a refund and a dispute that was won, with their payout. */
async function quietMonth(): Promise<Row[]> {
  const first = await buy('pi_1');
  const second = await buy('pi_2');
  await refund(first.topupId, 're_1');
  await dispute(second, 'open');
  await dispute(second, 'won');
  return [
    ['txn_1', 'charge', '13.00', '0.68', 'ch_1', 'pi_1'],
    ['txn_2', 'charge', '13.00', '0.68', 'ch_2', 'pi_2'],
    ['txn_3', 'refund', '-6.50', '0.00', 're_1', 'pi_1'],
    ['txn_4', 'dispute', '-13.00', '15.00', 'dp_1', 'pi_2'],
    ['txn_5', 'dispute_reversal', '13.00', '0.00', 'dp_1', 'pi_2'],
    ['txn_6', 'fee', '-0.30', '0.00', '', ''],
  ];
}
/** 26.00 of payments less 6.50, 16.36 of fees and 0.30. */
const PAID_OUT = '-2.84';

describe('a month that agrees', () => {
  it('is matched to the cent, posted once, and paid out', async () => {
    const rows = await quietMonth();
    expect(await importFile(activity(rows, 'po_1'))).toMatchObject({ lines: 6, added: 6, changed: 0 });
    expect(await importFile(payouts(['txn_9', 'po_1', PAID_OUT]))).toMatchObject({ added: 1 });
    expect(await states()).toEqual({
      'payment pi_1': 'matched',
      'payment pi_2': 'matched',
      'refund re_1': 'matched',
    });
    for (const control of [paymentsControl, payoutsControl, suspenseControl, bankControl])
      expect(await check(control)).toEqual({ count: 0, items: [] });
    expect(await balanceOf('psp:stripe')).toBe(0n);
    expect(await balanceOf('expense:psp-fee')).toBe(-1666n);
    expect(await balanceOf('bank')).toBe(-284n);

    // The same files again, together, change nothing.
    const again = await Promise.all([importFile(activity(rows, 'po_1')), importFile(activity(rows, 'po_1'))]);
    expect(again.map(({ added, changed }) => [added, changed])).toEqual([
      [0, 0],
      [0, 0],
    ]);
    expect(await balanceOf('psp:stripe')).toBe(0n);
  });

  it('is imported once by two at the same time', async () => {
    const rows = await quietMonth();
    const results = await Promise.all([
      importFile(activity(rows)),
      importFile(activity([...rows].reverse())),
    ]);
    expect(results.map(({ added }) => added).sort()).toEqual([0, 6]);
    expect(await balanceOf('expense:psp-fee')).toBe(-1666n);
  });

  it('is added up by day', async () => {
    await importFile(activity(await quietMonth()));
    const days = await inSnapshot(fixture.billing, (client) => summariseMatches(client, NONE));
    expect(days).toEqual([
      {
        day: dayAt(0),
        provider: 'stripe',
        state: 'matched',
        currency: 'USD',
        items: 3,
        oursMinor: 1950n,
        theirsMinor: 1950n,
      },
    ]);
  });

  it('posts under the time of the event', async () => {
    await buy('pi_1');
    const early = activity([['txn_1', 'charge', '13.00', '0.68', 'ch_1', 'pi_1']]).replace(
      at(0),
      '2026-01-31 10:00:00',
    );
    await importFile(early.replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/, '2026-01-31 10:00:00'));
    const { rows } = await fixture.billing.query<{ reference: string; at: string }>(
      `SELECT reference, (effective_at AT TIME ZONE 'UTC')::text AS at FROM ledger_transactions WHERE kind = 'psp-fee'`,
    );
    expect(rows).toEqual([{ reference: 'psp-fee:stripe:txn_1', at: '2026-01-31 10:00:00' }]);
    // Different days are noted, but do not count.
    const [item] = await inSnapshot(fixture.billing, (client) =>
      listMatches(client, NONE, { limit: 1, after: null }),
    );
    expect(item).toMatchObject({ state: 'matched', daysApart: expect.any(Number) });
  });
});

describe('what disagrees is found and named', () => {
  const faults = async () => {
    const { count, items } = await check(paymentsControl);
    expect(count).toBe(items.length);
    return items.map(({ subject, state }) => `${state} ${subject}`);
  };

  it('an unknown payment', async () => {
    const rows = await quietMonth();
    await importFile(activity([...rows, ['txn_7', 'charge', '6.50', '0.49', 'ch_7', 'pi_7']]));
    expect(await faults()).toEqual(['missing_here payment:stripe:pi_7']);
    expect((await check(paymentsControl)).items[0]?.message).toBe(
      'The payment pi_7 of 6.50 USD is in the stripe report but not in our books.',
    );
  });

  it('a payment that the provider does not know, if its report covers the time', async () => {
    const rows = (await quietMonth()).filter(([id]) => id !== 'txn_1');
    await importFile(activity([]), LONG_AGO);
    await importFile(activity(rows), { from: dayAt(0), to: '2999-01-01' });
    await fixture.owner.query('UPDATE provider_reports SET covers = NULL WHERE lines > 0');
    expect(await states()).toMatchObject({ 'payment pi_1': 'waiting' });
    expect(await faults()).toEqual(['report_overdue report:stripe']);
    await importFile(activity(rows));
    expect(await faults()).toEqual(['missing_there payment:stripe:pi_1']);
    expect((await check(paymentsControl)).items[0]?.transactionIds).toHaveLength(1);
  });

  it('another amount, another currency', async () => {
    const rows = await quietMonth();
    const other = rows.map((row): Row =>
      row[0] === 'txn_2' ? ['txn_2', 'charge', '12.99', '0.68', 'ch_2', 'pi_2'] : row,
    );
    await importFile(activity(other).replace('txn_1,' + at(0) + ',usd', 'txn_1,' + at(0) + ',eur'));
    expect((await faults()).sort()).toEqual(['differs payment:stripe:pi_1', 'differs payment:stripe:pi_2']);
  });

  it('one payment on two lines', async () => {
    const rows = await quietMonth();
    await importFile(activity([...rows, ['txn_8', 'charge', '13.00', '0', 'ch_8', 'pi_1']]));
    expect(await faults()).toEqual(['twice payment:stripe:pi_1']);
  });

  it('one payment as two top-ups', async () => {
    const rows = await quietMonth();
    await fixture.owner.query('ALTER TABLE topups DROP CONSTRAINT topups_provider_payment_id_key');
    await fixture.owner
      .query(`INSERT INTO topups (id, account_id, provider, payment_id, credits, paid_minor, currency, rate, transaction_id)
      SELECT 'doubled', account_id, provider, payment_id, credits, paid_minor, currency, rate, transaction_id FROM topups WHERE payment_id = 'pi_1'`);
    await importFile(activity(rows));
    expect(await faults()).toEqual(['twice payment:stripe:pi_1']);
  });

  it('a refund and a dispute that only they know, and a payment that failed after all, which is nothing', async () => {
    const rows = await quietMonth();
    await importFile(
      activity([
        ...rows,
        ['txn_7', 'refund', '-1.00', '0', 're_7', 'pi_1'],
        ['txn_8', 'dispute', '-13.00', '15.00', 'dp_8', 'pi_1'],
        ['txn_9', 'charge', '9.00', '0', 'ch_9', 'pi_9'],
        ['txn_10', 'charge_failure', '-9.00', '0', 'ch_9', 'pi_9'],
      ]),
    );
    expect((await faults()).sort()).toEqual([
      'missing_here dispute:stripe:dp_8',
      'missing_here refund:stripe:re_7',
    ]);
  });

  it('a line that changes later, whose first version stays', async () => {
    const rows = await quietMonth();
    await importFile(activity(rows));
    const changed = rows.map((row): Row =>
      row[0] === 'txn_1' ? ['txn_1', 'charge', '13.00', '0.70', 'ch_1', 'pi_1'] : row,
    );
    expect(await importFile(activity(changed))).toMatchObject({ added: 0, changed: 1 });
    expect(await importFile(activity(changed))).toMatchObject({ added: 0, changed: 1 });
    expect(await faults()).toEqual(['differs payment:stripe:pi_1']);
    expect(await balanceOf('expense:psp-fee')).toBe(-1666n);
  });

  it('a line that changes later, until it is accepted and the books follow, once', async () => {
    const rows = await quietMonth();
    await importFile(activity(rows, 'po_1'));
    await importFile(payouts(['txn_9', 'po_1', PAID_OUT]));
    const later: Record<string, [gross: string, fee: string]> = {
      txn_1: ['12.50', '0.70'],
      txn_6: ['-0.50', '0.00'],
    };
    const differing = rows.map((row): Row => {
      const [gross, fee] = later[row[0]] ?? [row[2], row[3]];
      return [row[0], row[1], gross, fee, row[4], row[5]];
    });
    await importFile(activity(differing, 'po_1'));
    await importFile(payouts(['txn_9', 'po_1', '-2.12']));
    expect((await faults()).sort()).toEqual([
      'differs fee:stripe:txn_6',
      'differs payment:stripe:pi_1',
      'differs payout:stripe:po_1',
    ]);
    for (const lineId of ['txn_1', 'txn_6', 'txn_9']) {
      await accept(lineId);
      await expect(accept(lineId)).rejects.toMatchObject({ code: 'conflict' });
    }
    expect(await faults()).toEqual([]);
    expect(await check(payoutsControl)).toEqual({ count: 0, items: [] });
    expect(await balanceOf('psp:stripe')).toBe(0n);
    expect(await balanceOf('expense:psp-fee')).toBe(-1688n);
    expect(await balanceOf('bank')).toBe(-212n);
    // The customer keeps the credits; people decide about the rest.
    expect(await balanceOf('suspense:pay')).toBe(-50n);
    expect((await check(suspenseControl)).items).toMatchObject([
      { details: { reference: expect.stringContaining('txn_1') } },
    ]);
    expect((await checkLedger(fixture.billing, { graceMs: 60_000 })).violations).toEqual([]);
    const { rows: linked } = await fixture.billing.query<{ kind: string }>(
      `SELECT o.kind FROM ledger_transactions t JOIN ledger_transactions o ON o.id = t.linked_id
       WHERE t.kind = 'report-line-change' ORDER BY t.id`,
    );
    expect(linked.map(({ kind }) => kind)).toEqual(['psp-fee', 'psp-fee', 'payout']);
  });

  it('a line that is about something else later, which cannot be accepted', async () => {
    const rows = await quietMonth();
    await importFile(activity(rows));
    await importFile(activity([['txn_1', 'charge', '13.00', '0.68', 'ch_1', 'pi_other']]));
    await expect(accept('txn_1')).rejects.toMatchObject({ code: 'conflict' });
    expect(await faults()).toEqual(['differs payment:stripe:pi_1']);
  });

  it('a payout that is off by a fee, one that is reported twice, and one that no report has', async () => {
    const rows = await quietMonth();
    await importFile(activity(rows, 'po_1'));
    const before = (await check(payoutsControl)).items;
    expect(before.map(({ subject, state }) => [subject, state])).toEqual([]);
    await importFile(payouts(['txn_9', 'po_1', '-2.54'], ['txn_10', 'po_2', '-5.00']));
    const [fault, ...others] = (await check(payoutsControl)).items;
    expect(others).toEqual([]);
    expect(fault).toMatchObject({ subject: 'payout:stripe:po_1', state: 'differs' });
    expect(fault?.message).toContain('differs by -0.30 USD from its 6 lines, which total 2.84 USD');
    expect(fault?.details).toMatchObject({ payments: '26.00 USD', fees: '-16.66 USD', refunds: '-6.50 USD' });
    await importFile(payouts(['txn_11', 'po_2', '-5.00']));
    expect((await check(payoutsControl)).items.map(({ state }) => state)).toEqual(['differs', 'twice']);
    // Nobody posts the second line of a payout.
    expect(await balanceOf('bank')).toBe(-754n);
  });

  it('what nobody can explain, into suspense', async () => {
    await importFile(activity([['txn_1', 'risk_reserved_funds', '-4.00', '0', '', '']]));
    expect(await balanceOf('psp:stripe')).toBe(400n);
    expect(await balanceOf('suspense:pay')).toBe(-400n);
    expect((await check(suspenseControl)).items).toMatchObject([
      { state: 'open', message: '-4.00 USD of stripe (txn_1) is in suspense: provider adjustment.' },
    ]);
    expect(await faults()).toEqual([]);
  });

  it('keeps other currencies apart', async () => {
    const file = activity([
      ['txn_1', 'charge', '13.00', '0.68', 'ch_1', 'pi_1'],
      ['txn_2', 'network_cost', '-1.00', '0', '', ''],
    ]).replaceAll('usd', 'eur');
    await importFile(file);
    expect(await balanceOf('psp:stripe:EUR')).toBe(168n);
    expect(await balanceOf('expense:psp-fee:EUR')).toBe(-168n);
    expect(await balanceOf('psp:stripe')).toBe(0n);
  });
});

describe('an import', () => {
  it('is all or nothing, and names every wrong row', async () => {
    const rows = await quietMonth();
    const file = `${activity(rows)}\ntxn_7,never,usd,1.00,0,charge,ch_7,pi_7,,\ntxn_8,2026-01-31,usd,x,0,charge,ch_8,pi_8,,`;
    const refused = await importFile(file).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(ReportRefused);
    expect((refused as ReportRefused).faults.map(({ line, column }) => [line, column])).toEqual([
      [8, 'created_utc'],
      [9, 'gross'],
    ]);
    const { rows: left } = await fixture.billing.query('SELECT FROM provider_report_lines');
    expect(left).toHaveLength(0);
  });

  it('can be tried without leaving a trace', async () => {
    const file = text(activity(await quietMonth()));
    const tried = await importStripeCsv(fixture.billing, file, {
      actor: 'cli:test',
      dryRun: true,
      days: WIDE,
    });
    expect(tried).toMatchObject({ reportId: null, lines: 6, added: 6 });
    const { rows } = await fixture.billing.query('SELECT FROM provider_reports');
    expect(rows).toHaveLength(0);
  });

  it('takes many lines in chunks, in flat memory, and posts each of them once', async () => {
    const many = Array.from({ length: 2_500 }, (_, at): Row => [
      `txn_${at}`,
      'charge',
      '1.00',
      '0.03',
      'ch',
      `pi_${at}`,
    ]);
    const [one, two] = await Promise.all([importFile(activity(many)), importFile(activity(many))]);
    expect(one.added + two.added).toBe(2_500);
    expect(await balanceOf('expense:psp-fee')).toBe(-7_500n);
  });

  it('refuses to change what was imported', async () => {
    await importFile(activity(await quietMonth()));
    await expect(fixture.billing.query(`UPDATE provider_report_lines SET line_id = 'x'`)).rejects.toThrow();
    await expect(fixture.owner.query('DELETE FROM provider_report_lines')).rejects.toThrow();
  });
});

it("the sandbox's own books are a report too", async () => {
  const { accountId } = await fixture.account({ credits: '0' });
  const topup = {
    accountId,
    paymentId: 'demo-1',
    ...priceCredits(parseAmount('10'), '1.3'),
    rate: '1.3',
    currency: 'USD',
  } as const;
  const { topupId } = await playTopup(fixture.billing, topup);
  expect(await playTopup(fixture.billing, topup)).toMatchObject({ topupId, created: false });
  await fixture.owner.query(`UPDATE sandbox_payments SET paid_at = now() - interval '1 hour'`);
  expect(await importSandbox(fixture.billing, 'system')).toMatchObject({ lines: 1, added: 1 });
  expect(await importSandbox(fixture.billing, 'system')).toMatchObject({ added: 0, changed: 0 });
  expect(await states()).toEqual({ 'payment demo-1': 'matched' });
});

describe('the bank', () => {
  const mapping = bankMapping.parse({
    date: { column: 'date' },
    amount: { column: 'amount' },
    currency: { fixed: 'USD' },
    reference: ['text'],
  });
  const file = (...rows: [day: string, amount: string, reference: string][]) =>
    text(['date,amount,text', ...rows.map((row) => row.join(','))].join('\n'));

  async function importBank(source: FileSource, days = WIDE) {
    const options = { actor: 'cli:test', dryRun: false, days };
    const result = await importBankCsv(fixture.billing, { accountId: 'main', source }, options);
    await matchBankLines(fixture.billing, 'USD');
    return result;
  }

  async function bankStates(): Promise<string[]> {
    const query = { bankAccountId: null, from: null, to: null, states: null };
    const items = await inSnapshot(fixture.billing, (client) =>
      listBankItems(client, query, { limit: 100, after: null }),
    );
    return items.map(({ kind, reference, state }) => `${kind} ${reference}: ${state}`).sort();
  }

  beforeEach(() =>
    inTransaction(fixture.billing, (client) =>
      saveBankAccount(client, { id: 'main', mapping }, { actor: 'cli:test', requestId: null }),
    ),
  );

  it('shows payouts by their amount and day, and transfers by their reference', async () => {
    await buy('bank-4711', '10', 'manual');
    await importFile(payouts(['txn_9', 'po_1', '-2.84']));
    await importBank(
      file(
        [dayAt(0), '13.00', 'TRANSFER bank-4711'],
        [dayAt(0), '2.84', 'STRIPE'],
        [dayAt(0), '-100.00', 'rent'],
      ),
    );
    expect(await bankStates()).toEqual([
      'line STRIPE: matched',
      'line TRANSFER bank-4711: matched',
      'line rent: missing_here',
    ]);
    expect(await balanceOf('psp:manual')).toBe(0n);
    expect(await balanceOf('bank')).toBe(-1584n);
    // The same days again, and two at once.
    const again = () => importBank(file([dayAt(0), '13.00', 'TRANSFER bank-4711']));
    expect((await Promise.all([again(), again()])).map(({ added }) => added)).toEqual([0, 0]);
    expect(await balanceOf('bank')).toBe(-1584n);
  });

  it('names what did not arrive, what nobody recorded, another amount, and what came twice', async () => {
    await buy('bank-1', '10', 'manual');
    await buy('bank-2', '10', 'manual');
    await buy('bank-3', '10', 'manual');
    await ageTopups('5 days');
    await importBank(
      file([dayAt(0), '12.00', 'bank-2'], [dayAt(0), '13.00', 'bank-3'], [dayAt(0), '5.00', 'Ada']),
    );
    await importBank(file([dayAt(0), '13.00', 'bank-3 again']));
    expect(await bankStates()).toEqual([
      'line Ada: missing_here',
      'line bank-2: differs',
      'line bank-3 again: twice',
      'line bank-3: matched',
      'topup bank-1: missing_there',
      'topup bank-2: missing_there',
    ]);
    expect(await check(bankControl)).toMatchObject({ count: 5 });
  });

  it('can be matched by a person if it is unclear, unmatched again, and marked as not ours', async () => {
    const { topupId } = await buy('bank-1', '10', 'manual');
    await importBank(file([dayAt(0), '13.00', 'Ada for October'], [dayAt(0), '-9.00', 'rent']));
    const { rows } = await fixture.billing.query<{ id: bigint }>(
      'SELECT id FROM bank_lines ORDER BY amount_minor',
    );
    const [rent, transfer] = rows.map(({ id }) => id) as [bigint, bigint];
    const by = { actor: 'user:1', note: 'as the statement says', house: 'USD' };
    const match = (bankLineId: bigint, kind: 'topup' | 'none', subject: string) =>
      inTransaction(fixture.billing, async (client) => {
        await lockMatching(client);
        return matchBankLine(client, { bankLineId, kind, subject }, by);
      });
    await expect(match(rent, 'topup', topupId)).rejects.toThrow('different amounts');
    await expect(match(transfer, 'topup', 'nobody')).rejects.toThrow('There is no such topup');
    const both = await Promise.allSettled([
      match(transfer, 'topup', topupId),
      match(transfer, 'topup', topupId),
    ]);
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    await match(rent, 'none', '');
    expect(await bankStates()).toEqual(['line Ada for October: matched', 'line rent: set_aside']);
    expect(await balanceOf('psp:manual')).toBe(0n);
    await inTransaction(fixture.billing, (client) => undoBankMatch(client, transfer, 'user:1'));
    expect(await balanceOf('psp:manual')).toBe(-1300n);
    await match(transfer, 'topup', topupId);
    expect(await balanceOf('bank')).toBe(-1300n);
  });

  it('refuses a line that was booked differently before', async () => {
    const ids = bankMapping.parse({ ...mapping, lineId: 'id' });
    await inTransaction(fixture.billing, (client) =>
      saveBankAccount(client, { id: 'main', mapping: ids }, { actor: 'cli:test', requestId: null }),
    );
    const line = (amount: string) => text(`date,amount,text,id\n${dayAt(0)},${amount},x,A1`);
    await importBank(line('1.00'));
    await expect(importBank(line('2.00'))).rejects.toThrow('imported before');
    await expect(
      importBankCsv(
        fixture.billing,
        { accountId: 'other', source: line('1') },
        { actor: 'x', dryRun: true, days: WIDE },
      ),
    ).rejects.toThrow('There is no bank account other');
  });
});
