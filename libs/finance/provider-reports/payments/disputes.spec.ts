import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inTransaction } from '#database/database.js';
import { beginTopupRefund, endTopupRefund } from '#ledger/postings/topup-refund.js';
import { nanos, parseAmount } from '#money/amount.js';
import { adjust } from '#ledger/postings/adjustment.js';
import { writeOff } from '#ledger/postings/write-off.js';
import { SuspenseService } from '#payments/suspense/suspense.service.js';
import { newId } from '#platform/ids.js';
import {
  asking,
  NOBODY_WAITS,
  openPayments,
  paidOrder,
  type PaymentsFixture,
  receive,
} from '../../../../test/support/payments.js';
import { ticketOf } from '../../../../test/support/tickets.js';
import { inSnapshot } from '../../snapshot.js';
import { importStripeCsv } from '../report.import.js';
import { listMatches } from './payment-matching.js';
import { matchSentence } from './payments.control.js';

let payments: PaymentsFixture;
let suspense: SuspenseService;

beforeAll(async () => {
  payments = await openPayments();
  const { source, config, approvals } = payments;
  suspense = new SuspenseService({ source, config, approvals, relay: NOBODY_WAITS });
});
afterAll(() => payments.close());

/** A payment of 13.00 of which a part was refunded, and then its whole amount disputed. */
async function disputed(refunded: string) {
  const { order, topupId, paymentId } = await paidOrder(payments, await payments.newAccount());
  const disputeId = `dp_${newId()}`;
  await refund(topupId, refunded);
  const deliver = (status: string) =>
    receive(payments, payments.stripe.dispute(disputeId, paymentId, { amount: 1_300, status }));
  await deliver('lost');
  return { order, disputeId, paymentId, deliver };
}

async function refund(topupId: string, credits: string): Promise<void> {
  const request = { topupId, reason: 'asked', actor: 'user:1', requestId: newId() };
  await inTransaction(payments.ledger.billing, async (client) => {
    const begun = await beginTopupRefund(client, { ...request, credits: nanos(parseAmount(credits)) });
    const end = { refundId: begun.id, providerRefundId: `re_${newId()}`, outcome: 'succeeded' } as const;
    await endTopupRefund(client, end);
  });
}

interface Item {
  id: string;
  why: string;
  amount: string;
  state: string;
}

async function itemsOf(reference: string): Promise<Item[]> {
  const { rows } = await payments.ledger.billing.query<Item>(
    `SELECT id, why, amount_minor::text AS amount, state FROM suspense_items WHERE reference = $1 ORDER BY id`,
    [reference],
  );
  return rows;
}

const written = (items: readonly Item[]) =>
  items.map(({ why, amount, state }) => `${why} ${amount} ${state}`);

/** Null if both sides agree. */
async function differenceOf(disputeId: string): Promise<string | null> {
  const query = { provider: null, from: null, to: null, states: null, graceMs: 0 };
  const items = await inSnapshot(payments.ledger.billing, (client) =>
    listMatches(client, query, { limit: 1_000, after: null }),
  );
  const item = items.find(({ id, state }) => id === disputeId && state !== 'matched');
  return item ? matchSentence(item) : null;
}

/** What the bank took and gave back, as Stripe reports it. */
async function report({ disputeId, paymentId }: { disputeId: string; paymentId: string }): Promise<void> {
  const day = new Date().toISOString().slice(0, 19).replace('T', ' ');
  const line = (category: string, gross: string) =>
    `txn_${newId()},${day},usd,${gross},0.00,${category},${disputeId},${paymentId},,`;
  const head =
    'balance_transaction_id,created_utc,currency,gross,fee,reporting_category,source_id,payment_intent_id,automatic_payout_id,description';
  const content = [head, line('dispute', '-13.00'), line('dispute_reversal', '13.00')].join('\n');
  const file = async function* () {
    yield content;
  };
  const days = { from: '2020-01-01', to: '2999-01-01' };
  await importStripeCsv(payments.ledger.billing, file, { actor: 'cli:test', dryRun: false, days });
}

describe('a lost dispute that the bank decides anew, after a refund of its payment', () => {
  it('returns what is still in suspense', async () => {
    const lost = await disputed('5');
    await lost.deliver('won');
    expect(written(await itemsOf(lost.disputeId))).toEqual(['dispute_beyond_payment -650 returned']);
    await report(lost);
    expect(await differenceOf(lost.disputeId)).toBeNull();
  });

  it('brings back into suspense what was booked as a cost since, so that the books have what Stripe has', async () => {
    const lost = await disputed('5');
    const [item] = await itemsOf(lost.disputeId);
    await suspense.expenseSuspense(item!.id, 'lost', asking(await payments.finance()));
    await Promise.all([lost.deliver('won'), lost.deliver('won'), lost.deliver('lost')]);
    await lost.deliver('won');
    const [, back, ...more] = await itemsOf(lost.disputeId);
    expect(written([back!])).toEqual(['dispute_won 650 open']);
    expect(more).toEqual([]);
    await report(lost);
    expect(await differenceOf(lost.disputeId)).toBeNull();
    const { accountId } = lost.order;
    const credited = suspense.creditSuspense(
      { itemId: back!.id, accountId, note: 'x' },
      asking(await payments.finance()),
    );
    await expect(credited).rejects.toMatchObject({ code: 'conflict', message: /book it as income/ });
    await suspense.expenseSuspense(back!.id, 'the cost is undone', asking(await payments.finance()));
    expect(await differenceOf(lost.disputeId)).toBeNull();
  });

  it('says so even if money is in suspense, where the debt of the rest was written off', async () => {
    const { order, topupId, paymentId } = await paidOrder(payments, await payments.newAccount());
    const { accountId } = order;
    await refund(topupId, '5');
    const { ticketId } = await ticketOf(payments.ledger, accountId);
    const terms = { accountId, ticketId, note: 'x', requestedBy: 'user:1', approvedBy: 'user:2' };
    const spent = { ...terms, amount: -parseAmount('5'), reason: 'correction', requestId: newId() } as const;
    await inTransaction(payments.ledger.billing, (client) => adjust(client, spent));
    const dispute = { kind: 'dispute', disputeId: `dp_${newId()}`, paymentId, currency: 'USD' } as const;
    const says = (state: 'lost' | 'won') => {
      const fact = { ...dispute, state, amountMinor: 1_300n } as const;
      return payments.inbox.accept({ provider: 'stripe', eventId: newId(), type: 'test', fact });
    };
    await says('lost');
    const [item] = await itemsOf(dispute.disputeId);
    await suspense.expenseSuspense(item!.id, 'lost', asking(await payments.finance()));
    const { id } = await inTransaction(payments.ledger.billing, (client) =>
      writeOff(client, { ...terms, amount: null, requestId: newId() }),
    );
    const outcome = await says('won');
    expect(outcome).toMatchObject({ state: 'suspense', alert: 'dispute_won' });
    expect(outcome?.detail).toContain(`by write-off ${id}: take back up to 5 credits`);
  });

  it('leaves the order as it was before, even if all of it had been refunded', async () => {
    const lost = await disputed('10');
    const state = () => payments.orders.show(lost.order.accountId, lost.order.id);
    expect(await state()).toMatchObject({ state: 'disputed' });
    await lost.deliver('won');
    expect(await state()).toMatchObject({ state: 'refunded' });
  });
});

it('an order stays disputed while another dispute of its payment is not won', async () => {
  const { order, paymentId } = await paidOrder(payments, await payments.newAccount());
  const [one, other] = [`dp_${newId()}`, `dp_${newId()}`];
  const deliver = (disputeId: string, status: string) =>
    receive(payments, payments.stripe.dispute(disputeId, paymentId, { amount: 650, status }));
  const state = async () => (await payments.orders.show(order.accountId, order.id)).state;
  await deliver(one, 'lost');
  await deliver(other, 'lost');
  await deliver(one, 'won');
  expect(await state()).toBe('disputed');
  await deliver(other, 'won');
  expect(await state()).toBe('paid');
});
