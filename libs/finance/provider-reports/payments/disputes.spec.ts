import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inTransaction } from '#database/database.js';
import { beginTopupRefund, endTopupRefund } from '#ledger/postings/topup-refund.js';
import { nanos, parseAmount } from '#money/amount.js';
import { adjust } from '#ledger/postings/adjustment.js';
import { readBalance } from '#ledger/postings/customer-account.js';
import { writeOff } from '#ledger/postings/write-off.js';
import { FinanceReader } from '#payments/finance.reader.js';
import { findReceipt } from '#payments/receipts/receipt.store.js';
import { SuspenseService } from '#payments/suspense/suspense.service.js';
import { newId } from '#platform/ids.js';
import {
  asking,
  balanceOf,
  NOBODY_WAITS,
  openPayments,
  paidOrder,
  type PaymentsFixture,
  receive,
  roundNow,
} from '../../../../test/support/payments.js';
import { ticketOf } from '../../../../test/support/tickets.js';
import { inSnapshot } from '../../snapshot.js';
import { importStripeCsv } from '../report.import.js';
import type { MatchedItem } from './match.js';
import { findFaultyMatches, listMatches } from './payment-matching.js';
import { matchSentence } from './payments.control.js';

let payments: PaymentsFixture;
let suspense: SuspenseService;
const RECENTLY = new Date(Date.now() - 3_600_000).toISOString();

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

type ReportLine = [category: string, gross: string];
const TAKEN_AND_BACK: ReportLine[] = [
  ['dispute', '-13.00'],
  ['dispute_reversal', '13.00'],
];

/** What the bank took and gave back, as Stripe reports it. */
async function report(
  {
    disputeId,
    paymentId,
    refundId = `re_${newId()}`,
  }: Record<'disputeId' | 'paymentId', string> & { refundId?: string },
  lines: ReportLine[] = TAKEN_AND_BACK,
  days = { from: '2020-01-01', to: '2999-01-01' },
): Promise<void> {
  const day = new Date().toISOString().slice(0, 19).replace('T', ' ');
  const source = (category: string) => ({ charge: paymentId, refund: refundId })[category] ?? disputeId;
  const written = lines.map(
    ([category, gross]) =>
      `txn_${newId()},${day},usd,${gross},0.00,${category},${source(category)},${paymentId},,`,
  );
  const head =
    'balance_transaction_id,created_utc,currency,gross,fee,reporting_category,source_id,payment_intent_id,automatic_payout_id,description';
  const content = [head, ...written].join('\n');
  const file = async function* () {
    yield content;
  };
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

  it.each([
    { refunded: '5', back: [650n], taken: [650n] },
    { refunded: '10', back: [1_300n], taken: [] },
  ])(
    'appears on the receipt with what it took besides the $refunded credits that were refunded, if anything',
    async ({ refunded, back, taken }) => {
      const { order } = await disputed(refunded);
      const { refunds, disputes } = (await findReceipt(payments.ledger.billing, order.topupId!, null))!;
      expect(refunds.map(({ payMinor }) => payMinor)).toEqual(back);
      expect(disputes.map(({ payMinor }) => payMinor)).toEqual(taken);
    },
  );

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

it('a dispute won after its account was deleted rewards the inviter of that account only', async () => {
  const { owner, billing } = payments.ledger;
  const invited = async () => {
    const [accountId, inviterId] = [await payments.newAccount(), await payments.newAccount()];
    await owner.query('INSERT INTO invitations (invitee_account_id, inviter_account_id) VALUES ($1, $2)', [
      accountId,
      inviterId,
    ]);
    return { accountId, reward: async () => (await readBalance(billing, inviterId))!.invite };
  };
  const [gone, other] = [await invited(), await invited()];
  const { paymentId } = await paidOrder(payments, gone.accountId);
  const disputeId = `dp_${newId()}`;
  const deliver = (status: string) =>
    receive(payments, payments.stripe.dispute(disputeId, paymentId, { amount: 1_300, status }));
  await deliver('lost');
  expect(await gone.reward()).toBe(0n);
  await owner.query('UPDATE accounts SET closing_at = now(), deleted_at = now() WHERE id = $1', [
    gone.accountId,
  ]);
  await deliver('won');
  expect(await gone.reward()).toBe(parseAmount('1'));
  const [item] = await itemsOf(disputeId);
  expect(item).toMatchObject({ why: 'dispute_after_deletion', amount: '1300', state: 'open' });
  const theirs = { itemId: item!.id, accountId: other.accountId, note: 'x' };
  const credit = async () => suspense.creditSuspense(theirs, asking(await payments.finance()));
  expect((await credit()).done).toMatchObject({ created: true });
  expect((await credit()).done).toMatchObject({ created: false });
  expect(await balanceOf(payments.ledger, other.accountId)).toBe('10');
  expect(await other.reward()).toBe(0n);
});

describe('a dispute of a payment that is in suspense', () => {
  const TAKEN: ReportLine[] = [
    ['charge', '13.00'],
    ['dispute', '-13.00'],
  ];

  /** Pays an order that is paid already, and so nothing. */
  async function suspended() {
    const { order } = await paidOrder(payments, await payments.newAccount());
    const { event, paymentId } = payments.stripe.pay(order.id);
    await receive(payments, event);
    const [item] = await itemsOf(paymentId);
    return { ...dispute(paymentId), accountId: order.accountId, paymentId, itemId: item!.id };
  }

  function dispute(paymentId: string, amount = 1_300) {
    const disputeId = `dp_${newId()}`;
    const deliver = (status: string) =>
      receive(payments, payments.stripe.dispute(disputeId, paymentId, { amount, status }));
    return { disputeId, deliver };
  }

  type Suspended = Awaited<ReturnType<typeof suspended>>;

  async function credit({ itemId, accountId }: Suspended) {
    return suspense.creditSuspense({ itemId, accountId, note: 'x' }, asking(await payments.finance()));
  }
  const giveBack = async (itemId: string) =>
    suspense.returnSuspense(itemId, 'x', asking(await payments.finance()));
  const expense = async (itemId: string) =>
    suspense.expenseSuspense(itemId, 'x', asking(await payments.finance()));

  const itemOf = async ({ disputeId }: Pick<Suspended, 'disputeId'>) => (await itemsOf(disputeId))[0]!.id;
  const stand = async ({ disputeId, paymentId }: Suspended) => ({
    payment: written(await itemsOf(paymentId)),
    dispute: written(await itemsOf(disputeId)),
  });

  /** What may become of both, as finance sees it, by reference. */
  async function mayBecome({ disputeId, paymentId }: Suspended): Promise<Record<string, string[]>> {
    const where: [string, unknown][] = [['reference = ANY (?)', [paymentId, disputeId]]];
    const reader = new FinanceReader({ pool: payments.ledger.billing, config: payments.config });
    const { items } = await reader.suspense({ where, limit: 10 });
    return Object.fromEntries(items.map((item) => [item.reference, item.mayBecome]));
  }

  /** Null if every item of the payment agrees with what Stripe reports. */
  async function differences(one: Suspended, lines: ReportLine[]): Promise<string[]> {
    await report(one, lines);
    const query = { provider: null, from: null, to: null, states: null, graceMs: 0 };
    const [all, recent] = await inSnapshot(payments.ledger.billing, async (client) => [
      await listMatches(client, query, { limit: 1_000, after: null }),
      (await findFaultyMatches(client, { graceMs: 0, before: null, since: RECENTLY, limit: 1_000 })).items,
    ]);
    const mine = (items: MatchedItem[]) =>
      items.filter(({ id, state }) => [one.disputeId, one.paymentId].includes(id) && state !== 'matched');
    expect(mine(recent)).toEqual(mine(all));
    return mine(all).map(matchSentence);
  }

  it('is in suspense itself, once, and keeps the payment from being credited until it is won', async () => {
    const one = await suspended();
    await Promise.all([one.deliver('needs_response'), one.deliver('under_review'), one.deliver('lost')]);
    await one.deliver('needs_response');
    expect(await stand(one)).toEqual({
      payment: ['paid_twice 1300 open'],
      dispute: ['payment_disputed -1300 open'],
    });
    await expect(credit(one)).rejects.toMatchObject({ code: 'conflict', message: /by dispute dp_/ });
    expect(await mayBecome(one)).toEqual({ [one.paymentId]: ['returned'], [one.disputeId]: [] });
    expect(await differences(one, TAKEN)).toEqual([]);
    await Promise.all([one.deliver('won'), one.deliver('won')]);
    expect((await stand(one)).dispute).toEqual(['payment_disputed -1300 returned']);
    expect((await mayBecome(one))[one.paymentId]).toEqual(['credited', 'returned']);
    expect(await differences(one, [['dispute_reversal', '13.00']])).toEqual([]);
    expect((await credit(one)).done).toMatchObject({ created: true });
    await one.deliver('lost');
    await one.deliver('won');
    expect(await balanceOf(payments.ledger, one.accountId)).toBe('20');
    expect(await differences(one, [])).toEqual([]);
  });

  it.each(['before', 'after'])(
    'is like a refund that the provider made %s the payment went to suspense',
    async (when) => {
      const { order } = await paidOrder(payments, await payments.newAccount());
      const { event, paymentId } = payments.stripe.pay(order.id);
      const refundId = `re_${newId()}`;
      const refund = {
        id: refundId,
        amount: 1_300,
        currency: 'usd',
        payment_intent: paymentId,
        metadata: null,
      };
      const refunded = payments.stripe.event('refund.created', { ...refund, status: 'succeeded' });
      for (const each of when === 'before' ? [refunded, event] : [event, refunded])
        await receive(payments, each);
      const [[item], [gone]] = [await itemsOf(paymentId), await itemsOf(refundId)];
      const one = { itemId: item!.id, accountId: order.accountId, disputeId: refundId, paymentId };
      const known = { ...one, refundId, deliver: () => receive(payments, refunded) };
      await expect(credit(known)).rejects.toMatchObject({ code: 'conflict', message: /by refund re_/ });
      await expect(expense(gone!.id)).rejects.toMatchObject({ code: 'conflict' });
      await giveBack(item!.id);
      expect(await stand(known)).toEqual({
        payment: ['paid_twice 1300 returned'],
        dispute: ['unknown_refund -1300 returned'],
      });
      expect(
        await differences(known, [
          ['charge', '13.00'],
          ['refund', '-13.00'],
        ]),
      ).toEqual([]);
    },
  );

  it('is unlike a refund at the provider that failed: people resolve both sides of it', async () => {
    const one = await suspended();
    const refundId = `re_${newId()}`;
    const refund = {
      id: refundId,
      amount: 1_300,
      currency: 'usd',
      payment_intent: one.paymentId,
      metadata: null,
    };
    for (const status of ['succeeded', 'failed'])
      await receive(payments, payments.stripe.event('refund.updated', { ...refund, status }));
    const items = await itemsOf(refundId);
    expect(written(items)).toEqual(['unknown_refund -1300 open', 'refund_failed 1300 open']);
    expect((await credit(one)).done).toMatchObject({ created: true });
    for (const { id } of items) await giveBack(id);
    expect(written(await itemsOf(refundId))).toEqual([
      'unknown_refund -1300 returned',
      'refund_failed 1300 returned',
    ]);
  });

  it('takes nothing if it is won before it is opened, also once the payment is credited', async () => {
    const one = await suspended();
    await one.deliver('won');
    await one.deliver('needs_response');
    expect((await stand(one)).dispute).toEqual([]);
    expect((await credit(one)).done).toMatchObject({ created: true });
    await one.deliver('lost');
    expect(await balanceOf(payments.ledger, one.accountId)).toBe('20');
  });

  it('that comes before its payment waits for it', async () => {
    const { order } = await paidOrder(payments, await payments.newAccount());
    const { event, paymentId } = payments.stripe.pay(order.id);
    const early = dispute(paymentId);
    await early.deliver('needs_response');
    await receive(payments, event);
    await Promise.all([roundNow(payments), roundNow(payments)]);
    expect(written(await itemsOf(early.disputeId))).toEqual(['payment_disputed -1300 open']);
  });

  it('leaves a returned payment to all of its refunds, even if only the last of them is new', async () => {
    const one = await suspended();
    await giveBack(one.itemId);
    await report(one, [
      ['charge', '13.00'],
      ['refund', '-5.00'],
    ]);
    const { rows } = await payments.ledger.billing.query<{ since: string }>('SELECT now()::text AS since');
    // It covers no time, so it makes nothing else new.
    await report(one, [['refund', '-8.00']], { from: '2998-01-01', to: '2999-01-01' });
    const { items } = await inSnapshot(payments.ledger.billing, (client) =>
      findFaultyMatches(client, { graceMs: 0, before: null, since: rows[0]!.since, limit: 1_000 }),
    );
    expect(items.filter(({ id }) => id === one.paymentId)).toEqual([]);
  });

  it('ends together with the payment that is returned, so that the books have what Stripe has', async () => {
    const one = await suspended();
    await one.deliver('lost');
    const itemId = await itemOf(one);
    for (const settle of [giveBack, expense])
      await expect(settle(itemId)).rejects.toMatchObject({ code: 'conflict', message: /Return payment pi_/ });
    await Promise.all([giveBack(one.itemId), giveBack(one.itemId)]);
    expect(await stand(one)).toEqual({
      payment: ['paid_twice 1300 returned'],
      dispute: ['payment_disputed -1300 returned'],
    });
    expect(await differences(one, TAKEN)).toEqual([]);
    await Promise.all([one.deliver('won'), one.deliver('won')]);
    expect((await stand(one)).dispute[1]).toBe('dispute_won 1300 open');
    expect(await differences(one, [['dispute_reversal', '13.00']])).toEqual([]);
    const [, back] = await itemsOf(one.disputeId);
    await giveBack(back!.id);
    expect(await differences(one, [['refund', '-13.00']])).toEqual([]);
  });

  it('of a part leaves the rest to be returned', async () => {
    const one = await suspended();
    const part = { ...one, ...dispute(one.paymentId, 650) };
    await part.deliver('lost');
    await giveBack(one.itemId);
    const refunded: ReportLine[] = [
      ['charge', '13.00'],
      ['dispute', '-6.50'],
      ['refund', '-6.50'],
    ];
    expect(await differences(part, refunded)).toEqual([]);
  });

  it('takes no more than the payment, whatever several of them took', async () => {
    const one = await suspended();
    await one.deliver('lost');
    const more = { ...one, ...dispute(one.paymentId, 200) };
    await more.deliver('lost');
    expect((await stand(more)).dispute).toEqual(['dispute_beyond_payment -200 open']);
    await expense(await itemOf(more));
    await more.deliver('won');
    expect((await stand(more)).dispute).toEqual([
      'dispute_beyond_payment -200 expensed',
      'dispute_won 200 open',
    ]);
    const both: ReportLine[] = [
      ['dispute', '-2.00'],
      ['dispute_reversal', '2.00'],
    ];
    expect(await differences(more, [['charge', '13.00'], ...both])).toEqual([]);
  });

  it('takes no more than what a refund at the provider left of the payment', async () => {
    const one = await suspended();
    const refundId = `re_${newId()}`;
    const refund = {
      id: refundId,
      amount: 500,
      currency: 'usd',
      payment_intent: one.paymentId,
      metadata: null,
    };
    const refunded = payments.stripe.event('refund.created', { ...refund, status: 'succeeded' });
    await receive(payments, refunded);
    await one.deliver('lost');
    expect((await stand(one)).dispute).toEqual([
      'payment_disputed -800 open',
      'dispute_beyond_payment -500 open',
    ]);
    await giveBack(one.itemId);
    expect((await stand(one)).dispute[1]).toBe('dispute_beyond_payment -500 open');
    const lines: ReportLine[] = [
      ['charge', '13.00'],
      ['refund', '-5.00'],
      ['dispute', '-13.00'],
    ];
    await report({ ...one, refundId }, lines);
    for (const id of [one.disputeId, one.paymentId, refundId]) expect(await differenceOf(id)).toBeNull();
    await one.deliver('won');
    await report({ ...one, refundId }, [['dispute_reversal', '13.00']]);
    expect(await differenceOf(one.disputeId)).toBeNull();
  });

  /** A refund at the provider, reported more than once. */
  async function refundedAfter({ paymentId }: Suspended, amount: number): Promise<string> {
    const id = `re_${newId()}`;
    const refund = { id, amount, currency: 'usd', payment_intent: paymentId, metadata: null };
    for (const type of ['refund.created', 'refund.updated'])
      await receive(payments, payments.stripe.event(type, { ...refund, status: 'succeeded' }));
    return id;
  }

  it.each([
    { disputed: 1_300, refunded: 1_300, ended: 0, beyond: 1_300 },
    { disputed: 900, refunded: 700, ended: 400, beyond: 300 },
  ])(
    'of $disputed leaves in suspense what a refund of $refunded took beyond the payment',
    async ({ disputed: amount, refunded, ended, beyond }) => {
      const paid = await suspended();
      const one = { ...paid, ...dispute(paid.paymentId, amount) };
      await one.deliver('lost');
      const refundId = await refundedAfter(one, refunded);
      await giveBack(one.itemId);
      expect((await stand(one)).dispute).toEqual([`payment_disputed -${amount} returned`]);
      const parts = ended === 0 ? [] : [`unknown_refund -${ended} returned`];
      const items = await itemsOf(refundId);
      expect(written(items)).toEqual([...parts, `unknown_refund -${beyond} open`]);
      const lines: ReportLine[] = [
        ['charge', '13.00'],
        ['dispute', `-${amount / 100}.00`],
        ['refund', `-${refunded / 100}.00`],
      ];
      await report({ ...one, refundId }, lines);
      for (const id of [one.disputeId, one.paymentId, refundId]) expect(await differenceOf(id)).toBeNull();
      await expense(items.at(-1)!.id);
      expect(await differenceOf(refundId)).toBeNull();
    },
  );

  it('that is won leaves the payment to a refund at the provider that was reported after it', async () => {
    const one = await suspended();
    await one.deliver('lost');
    const refundId = await refundedAfter(one, 1_300);
    await one.deliver('won');
    await expect(credit(one)).rejects.toMatchObject({ code: 'conflict', message: /by refund re_/ });
    await giveBack(one.itemId);
    expect(written(await itemsOf(refundId))).toEqual(['unknown_refund -1300 returned']);
  });

  it('takes all of it if that refund failed before', async () => {
    const one = await suspended();
    const refund = {
      id: `re_${newId()}`,
      amount: 500,
      currency: 'usd',
      payment_intent: one.paymentId,
      metadata: null,
    };
    for (const status of ['succeeded', 'failed'])
      await receive(payments, payments.stripe.event('refund.updated', { ...refund, status }));
    await one.deliver('lost');
    expect((await stand(one)).dispute).toEqual(['payment_disputed -1300 open']);
  });

  it('of a payment that was returned before is a cost, or what returned it', async () => {
    const [paid, refused] = [await suspended(), await suspended()];
    for (const one of [paid, refused]) {
      await giveBack(one.itemId);
      await one.deliver('lost');
    }
    await expense(await itemOf(paid));
    expect(await differences(paid, [...TAKEN, ['refund', '-13.00']])).toEqual([]);
    expect((await mayBecome(refused))[refused.disputeId]).toEqual(['returned', 'expensed']);
    await giveBack(await itemOf(refused));
    expect(await differences(refused, TAKEN)).toEqual([]);
  });

  it('at the same moment as a person credits or returns the payment leaves the books right', async () => {
    for (const settle of [credit, ({ itemId }: Suspended) => giveBack(itemId)]) {
      const one = await suspended();
      const [settled] = await Promise.allSettled([
        settle(one),
        one.deliver('lost'),
        one.deliver('needs_response'),
      ]);
      const { payment, dispute: items } = await stand(one);
      if (settle === credit) {
        const isCredited = settled.status === 'fulfilled';
        expect(payment).toEqual([`paid_twice 1300 ${isCredited ? 'credited' : 'open'}`]);
        expect(items).toEqual(isCredited ? [] : ['payment_disputed -1300 open']);
        expect(await balanceOf(payments.ledger, one.accountId)).toBe('10');
      } else {
        expect(payment).toEqual(['paid_twice 1300 returned']);
        if (items[0]?.endsWith('open')) await giveBack(await itemOf(one));
        expect((await stand(one)).dispute).toEqual(['payment_disputed -1300 returned']);
      }
      expect(await differences(one, TAKEN)).toEqual([]);
    }
  });

  it('is ignored if our books know it as one of another payment', async () => {
    const [one, other] = [await suspended(), await suspended()];
    await one.deliver('lost');
    const event = payments.stripe.dispute(one.disputeId, other.paymentId, { amount: 1_300, status: 'lost' });
    await receive(payments, event);
    expect((await stand(one)).dispute).toEqual(['payment_disputed -1300 open']);
  });
});
