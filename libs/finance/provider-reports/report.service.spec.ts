import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OutboxRelay } from '#bus/outbox.js';
import type { Actor } from '#identity/role.js';
import { PaymentNotices } from '#payments/payment.notices.js';
import { Registry } from '#platform/metrics.js';
import { auditOf } from '../../../test/support/audit.js';
import { asking, NOBODY_WAITS, openPayments, type PaymentsFixture } from '../../../test/support/payments.js';
import { bankMapping } from './bank/bank-csv.js';
import { saveBankAccount } from './bank/bank.import.js';
import { inTransaction } from '#database/database.js';
import { ProviderReports } from './provider-reports.js';
import { ReportService } from './report.service.js';

let payments: PaymentsFixture;
let service: ReportService;
let finance: Actor;

beforeAll(async () => {
  payments = await openPayments();
  const { config, ledger } = payments;
  const { billing: pool, log } = ledger;
  const relay = NOBODY_WAITS as unknown as OutboxRelay;
  const notices = new PaymentNotices({ registry: new Registry(), log, relay });
  const settings = { ...config, providerReportIntervalMs: 3_600_000 };
  service = new ReportService({
    pool,
    reports: new ProviderReports({ pool, config: settings, log, notices }),
  });
  finance = await payments.finance();
});
afterAll(() => payments.close());

const HEAD =
  'balance_transaction_id,created_utc,currency,gross,fee,reporting_category,source_id,payment_intent_id,automatic_payout_id,description';

/** A line of fees, as Stripe writes it. */
const fees = (...ids: string[]) =>
  [HEAD, ...ids.map((id) => `${id},2026-01-05 10:00:00,usd,-1.00,0.00,fee,${id},,,`)].join('\n');

function stripe(text: string, of: { dryRun?: boolean; from?: string; to?: string } = {}) {
  const { dryRun = false, from = '2026-01-01', to = '2026-01-31' } = of;
  return service.importStripe({ text, from, to, dryRun }, asking(finance));
}

describe('a file of a provider', () => {
  it('is tried without a trace', async () => {
    expect(await stripe(fees('a'), { dryRun: true })).toMatchObject({ lines: 1, added: 1 });
    expect((await service.list({ limit: 10 })).items).toEqual([]);
    expect(await auditOf(payments.ledger, 'report:stripe')).toEqual([]);
  });

  it('is imported once however often, by someone whom the log names, and posted at once', async () => {
    expect(await stripe(fees('a', 'b'))).toMatchObject({ lines: 2, added: 2, changed: 0 });
    expect(await stripe(fees('a', 'b'))).toMatchObject({ lines: 2, added: 0, changed: 0 });
    const audited = await auditOf(payments.ledger, 'report:stripe');
    expect(audited[0]).toMatchObject({
      actor: `user:${finance.userId}`,
      action: 'report.imported',
      after: { lines: 2, added: 2, changed: 0 },
    });
    const { rows } = await payments.ledger.billing.query<{ posted: number }>(
      'SELECT count(*)::int AS posted FROM provider_line_postings',
    );
    expect(rows).toEqual([{ posted: 2 }]);
  });

  it('says what is wrong with its content or days', async () => {
    await expect(stripe('no,report\n1,2')).rejects.toMatchObject({ code: 'invalid_value' });
    await expect(stripe(fees('c'), { from: '2026-02-01' })).rejects.toMatchObject({ code: 'invalid_value' });
    await expect(stripe(fees('c'), { from: 'someday' })).rejects.toMatchObject({ code: 'invalid_value' });
  });
});

describe('a file of a bank', () => {
  const text = 'date,id,amount,text\n2026-01-05,x1,12.50,someone';
  const upload = { text, from: '2026-01-01', to: '2026-01-31', dryRun: false };

  it('belongs to a known account', async () => {
    await expect(service.importBank('main', upload, asking(finance))).rejects.toMatchObject({
      code: 'not_found',
    });
    const mapping = bankMapping.parse({
      date: { column: 'date' },
      amount: { column: 'amount' },
      currency: { fixed: 'USD' },
      reference: ['text'],
      lineId: 'id',
    });
    await inTransaction(payments.ledger.billing, (client) =>
      saveBankAccount(client, { id: 'main', mapping }, { actor: 'user:x', requestId: null }),
    );
    expect(await service.importBank('main', upload, asking(finance))).toMatchObject({ lines: 1, added: 1 });
  });
});

describe('the list of reports', () => {
  it('has the newest first and continues after a page', async () => {
    const all = await service.list({ limit: 10 });
    expect(all.nextCursor).toBeNull();
    const ids = all.items.map(({ id }) => id);
    expect(ids).toEqual([...ids].sort().reverse());
    expect(ids.length).toBeGreaterThan(2);
    const first = await service.list({ limit: 2 });
    const rest = await service.list({ limit: 10, cursor: first.nextCursor! });
    expect([...first.items, ...rest.items]).toEqual(all.items);
    expect(all.items.at(-1)).toMatchObject({
      coversFrom: expect.stringMatching(/^2026-01-01/),
      coversTo: expect.stringMatching(/^2026-01-31/),
      source: 'csv',
    });
  });
});
