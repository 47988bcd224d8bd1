import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Actor } from '#identity/role.js';
import { recordLimit } from '#ledger/postings/outflow.js';
import { parseAmount } from '#money/amount.js';
import { newId } from '#platform/ids.js';
import { priceCredits } from '#topup/conversion.js';
import { asking, openPayments, type PaymentsFixture } from '../../../test/support/payments.js';
import { lineOfPayment } from '../../../test/support/reported-lines.js';
import { recordTopup } from '../../../test/support/topups.js';
import { LineService } from './line.service.js';

let payments: PaymentsFixture;
let service: LineService;
let finance: Actor;
let paymentId: string;
let lineId: string;

beforeAll(async () => {
  payments = await openPayments();
  const { source, approvals, inbox, ledger } = payments;
  service = new LineService({ pool: ledger.billing, inbox, source, approvals });
  await recordLimit(ledger.billing, 'adjustment', parseAmount('20'));
});
beforeEach(async () => {
  finance = await payments.finance();
  paymentId = `pi_${newId()}`;
  lineId = await lineOfPayment(payments.ledger.owner, paymentId);
});
afterAll(() => payments.close());

const conflict = { code: 'conflict' };
const key = () => ({ provider: 'stripe' as const, lineId });
const accept = (by = finance, requestId = newId()) =>
  service.accept(key(), 'as they wrote', asking(by, requestId));

/** Another report with a different amount or fee, in minor units. */
async function changeTo(amountMinor: number, feeMinor = 0): Promise<void> {
  await payments.ledger.owner.query(
    `INSERT INTO provider_line_changes (line, report_id, content)
     SELECT id, report_id, jsonb_build_object('type', type, 'currency', currency, 'subjectId', subject_id,
       'amountMinor', $2::text, 'feeMinor', $3::text)
     FROM provider_report_lines WHERE line_id = $1`,
    [lineId, amountMinor, feeMinor],
  );
}

/** Credits the payment to an account, as if its event had arrived. */
function credit(accountId: string): Promise<unknown> {
  return recordTopup(payments.ledger.billing, {
    accountId,
    paymentId,
    provider: 'stripe',
    currency: 'USD',
    ...priceCredits(parseAmount('10'), '1.3'),
  });
}

describe('a line that our books miss', () => {
  it('is found with its outcome, or not at all', async () => {
    expect(await service.find('stripe', lineId)).toMatchObject({
      lineId,
      type: 'payment',
      amountMinor: 1300n,
      subjectId: paymentId,
      postings: [],
      changes: [],
      acceptances: [],
    });
    await expect(service.find('sandbox', lineId)).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('a line that a later report changed', () => {
  it('is accepted by one person within the limit, and once', async () => {
    await expect(accept()).rejects.toMatchObject(conflict);
    await changeTo(1400);
    const requestId = newId();
    expect(await accept(finance, requestId)).toEqual({ state: 'done', approvalId: null });
    expect(await accept(finance, requestId)).toEqual({ state: 'done', approvalId: null });
    expect((await service.find('stripe', lineId)).acceptances).toMatchObject([
      { reason: 'as they wrote', requestedBy: `user:${finance.userId}`, approvedBy: null },
    ]);
    await expect(accept()).rejects.toMatchObject(conflict);
  });

  it('needs a second person above the limit', async () => {
    await changeTo(2001);
    const { state, approvalId } = await accept();
    expect(state).toBe('pending');
    expect((await service.find('stripe', lineId)).acceptances).toEqual([]);
    const other = await payments.finance();
    await payments.approve(approvalId, other);
    expect((await service.find('stripe', lineId)).acceptances).toMatchObject([
      { requestedBy: `user:${finance.userId}`, approvedBy: `user:${other.userId}` },
    ]);
  });

  it('needs one for its amount and its fee together, since both are posted', async () => {
    await changeTo(1300, 701);
    expect((await accept()).state).toBe('pending');
  });

  it('cannot be accepted by the person who paid', async () => {
    await credit(finance.accountId);
    await changeTo(1400);
    await expect(accept()).rejects.toMatchObject({ code: 'second_person_required' });
  });
});
