import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Actor } from '#identity/role.js';
import { inTransaction } from '#database/database.js';
import { readLots } from '#ledger/lots/lots.js';
import { readBalance } from '#ledger/postings/customer-account.js';
import { recordLimit } from '#ledger/postings/outflow.js';
import { lockBalance } from '#ledger/postings/posting.js';
import { beginTopupRefund, endTopupRefund } from '#ledger/postings/topup-refund.js';
import { newId } from '#platform/ids.js';
import { formatAmount, nanos, parseAmount } from '#money/amount.js';
import { beginRefund } from '../../../test/support/ledger-person.js';
import {
  asking,
  balanceOf,
  NOBODY_WAITS,
  openPayments,
  orderOf,
  paidOrder,
  type PaymentsFixture,
} from '../../../test/support/payments.js';
import type { PaymentFact } from '../payment.provider.js';
import { FinanceReader } from '../finance.reader.js';
import { SuspenseService } from './suspense.service.js';

let payments: PaymentsFixture;
let suspense: SuspenseService;

beforeAll(async () => {
  payments = await openPayments();
  const { source, config, approvals, ledger } = payments;
  suspense = new SuspenseService({ source, config, approvals, relay: NOBODY_WAITS });
  for (const limit of ['manual-topup', 'topup-refund', 'adjustment'] as const)
    await recordLimit(ledger.billing, limit, parseAmount('100'));
});
afterAll(() => payments.close());

async function itemOf(fact: PaymentFact, reference: string): Promise<string> {
  await payments.inbox.accept({ provider: 'stripe', eventId: newId(), type: 'test', fact });
  const { rows } = await payments.ledger.billing.query<{ id: string }>(
    'SELECT id FROM suspense_items WHERE reference = $1 ORDER BY id DESC',
    [reference],
  );
  return rows[0]!.id;
}

/** A payment for an order that does not expect it, or for no order. */
function came(amountMinor = 1_300n, of: { orderId?: string; currency?: string } = {}): Promise<string> {
  const paymentId = `pi_${newId()}`;
  const { orderId = null, currency = 'USD' } = of;
  return itemOf({ kind: 'paid', orderId, paymentId, amountMinor, currency }, paymentId);
}

/** A refund made in Stripe's own dashboard. */
function left(
  providerRefundId = `re_${newId()}`,
  amountMinor = 300n,
  paymentId: string | null = null,
): Promise<string> {
  const refund = { kind: 'refund', refundId: null, state: 'succeeded', failure: null } as const;
  return itemOf({ ...refund, providerRefundId, paymentId, amountMinor, currency: 'USD' }, providerRefundId);
}

/** The same refund failed afterwards. */
function cameBack(providerRefundId: string, amountMinor = 300n): Promise<string> {
  const refund = { kind: 'refund', refundId: null, state: 'failed', failure: 'closed' } as const;
  return itemOf({ ...refund, providerRefundId, amountMinor, currency: 'USD' }, providerRefundId);
}

/** A refund of a payment of 10 credits that we made, and that had succeeded. */
async function refunded(accountId: string): Promise<{ paymentId: string; providerRefundId: string }> {
  const { topupId, paymentId } = await paidOrder(payments, accountId);
  return { paymentId, providerRefundId: await refundOf(topupId) };
}

/** @returns the provider's id of the refund */
async function refundOf(topupId: string, amount: string | null = null): Promise<string> {
  const [providerRefundId, requestId] = [`re_${newId()}`, newId()];
  const credits = amount === null ? null : parseAmount(amount);
  await inTransaction(payments.ledger.billing, async (client) => {
    const asked = { topupId, credits, reason: 'asked', actor: 'user:1', requestId };
    const { id: refundId } = await beginTopupRefund(client, asked);
    await endTopupRefund(client, { refundId, providerRefundId, outcome: 'succeeded' });
  });
  return providerRefundId;
}

/** What a bank takes beyond the payment of an account's order. */
async function takenBeyond(accountId: string): Promise<string> {
  const { paymentId } = await paidOrder(payments, accountId);
  const disputeId = `dp_${newId()}`;
  const dispute = { kind: 'dispute', disputeId, paymentId, state: 'lost', currency: 'USD' } as const;
  return itemOf({ ...dispute, amountMinor: 1_400n }, disputeId);
}

async function stateOf(itemId: string): Promise<string> {
  const { rows } = await payments.ledger.billing.query<{ state: string }>(
    'SELECT state FROM suspense_items WHERE id = $1',
    [itemId],
  );
  return rows[0]!.state;
}

async function paymentOf(itemId: string): Promise<string> {
  const { rows } = await payments.ledger.billing.query<{ reference: string }>(
    'SELECT reference FROM suspense_items WHERE id = $1',
    [itemId],
  );
  return rows[0]!.reference;
}

async function takenFor(itemId: string): Promise<number> {
  const { rows } = await payments.ledger.billing.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM outflows WHERE reference = $1',
    [`suspense:${itemId}`],
  );
  return rows[0]!.count;
}

/** What is unused of each lot of an account. */
function lotsOf(accountId: string): Promise<string[]> {
  return inTransaction(payments.ledger.billing, async (client) => {
    const { lots } = await readLots(client, await lockBalance(client, accountId));
    return lots.map(({ unused }) => formatAmount(nanos(unused)));
  });
}

/** As finance sees it. */
async function mayBecome(itemId: string): Promise<string[]> {
  const { ledger, config } = payments;
  const reader = new FinanceReader({ pool: ledger.billing, config });
  return (await reader.suspense({ where: [['id = ?', itemId]], limit: 1 })).items[0]!.mayBecome;
}

function credit(itemId: string, accountId: string, actor: Actor) {
  return suspense.creditSuspense({ itemId, accountId, note: 'they told us' }, asking(actor));
}

describe('money in suspense', () => {
  it('is credited once to its owner, however many people do it at once', async () => {
    const [itemId, accountId] = [await came(), await payments.newAccount()];
    const people = await Promise.all([payments.finance(), payments.finance(), payments.finance()]);
    const answers = await Promise.all(people.map((actor) => credit(itemId, accountId, actor)));
    expect(answers.filter(({ done }) => done?.created)).toHaveLength(1);
    expect(await balanceOf(payments.ledger, accountId)).toBe('10');
    const late = suspense.returnSuspense(itemId, 'back', asking(await payments.finance()));
    await expect(late).rejects.toMatchObject({ code: 'conflict' });
    expect(await stateOf(itemId)).toBe('credited');
    expect(await takenFor(itemId)).toBe(1);
  });

  it('is credited to one account only', async () => {
    const itemId = await came();
    const accounts = [await payments.newAccount(), await payments.newAccount()];
    const people = [await payments.finance(), await payments.finance()];
    const ends = await Promise.allSettled(
      accounts.map((accountId, at) => credit(itemId, accountId, people[at]!)),
    );
    expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const balances = await Promise.all(accounts.map((accountId) => balanceOf(payments.ledger, accountId)));
    expect(balances.sort()).toEqual(['0', '10']);
    expect(await takenFor(itemId)).toBe(1);
  });

  it('is either credited or returned, never both, even if both are tried at once', async () => {
    for (let round = 0; round < 4; round += 1) {
      const [itemId, accountId] = [await came(), await payments.newAccount()];
      const [one, two] = [await payments.finance(), await payments.finance()];
      const both = [
        () => credit(itemId, accountId, one),
        () => suspense.returnSuspense(itemId, 'not theirs', asking(two)),
      ];
      if (round % 2 === 1) both.reverse();
      const ends = await Promise.allSettled(both.map((each) => each()));
      expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      expect(ends.find(({ status }) => status === 'rejected')).toMatchObject({
        reason: { code: 'conflict' },
      });
      const isCredited = (await stateOf(itemId)) === 'credited';
      expect(await balanceOf(payments.ledger, accountId)).toBe(isCredited ? '10' : '0');
    }
  });

  it('is returned once, and then credited to nobody', async () => {
    const [itemId, accountId] = [await came(), await payments.newAccount()];
    const people = [await payments.finance(), await payments.finance()];
    await Promise.all(people.map((actor) => suspense.returnSuspense(itemId, 'back', asking(actor))));
    expect(await stateOf(itemId)).toBe('returned');
    await expect(credit(itemId, accountId, await payments.finance())).rejects.toMatchObject({
      code: 'conflict',
    });
    await expect(
      suspense.expenseSuspense(itemId, 'lost', asking(await payments.finance())),
    ).rejects.toMatchObject({
      code: 'conflict',
    });
  });

  it('that cannot be credited or be a cost is listed so', async () => {
    const refundId = `re_${newId()}`;
    const gone = await left(refundId);
    const back = await cameBack(refundId);
    const listed = async (...ids: string[]) => Promise.all(ids.map((id) => mayBecome(id)));
    expect(await listed(await came(), await came(1_300n, { currency: 'EUR' }), gone, back)).toEqual([
      ['credited', 'returned'],
      ['returned'],
      ['returned', 'expensed'],
      ['returned'],
    ]);
    await suspense.expenseSuspense(gone, 'lost', asking(await payments.finance()));
    expect(await listed(gone, back)).toEqual([[], ['returned', 'expensed']]);
  });

  it('in another currency is returned by two people and never credited', async () => {
    const [itemId, accountId] = [await came(1_300n, { currency: 'EUR' }), await payments.newAccount()];
    await expect(credit(itemId, accountId, await payments.finance())).rejects.toMatchObject({
      code: 'invalid_value',
      param: 'currency',
    });
    const { approvalId } = await suspense.returnSuspense(itemId, 'back', asking(await payments.finance()));
    expect(await stateOf(itemId)).toBe('open');
    await payments.approve(approvalId, await payments.finance());
    expect(await stateOf(itemId)).toBe('returned');
  });

  it('for less than the smallest credit, or for an unknown account, is not credited', async () => {
    const small = credit(await came(129n), await payments.newAccount(), await payments.finance());
    await expect(small).rejects.toMatchObject({ code: 'invalid_value', param: 'amount' });
    const nobody = credit(await came(), 'nobody', await payments.finance());
    await expect(nobody).rejects.toMatchObject({ code: 'invalid_value', param: 'accountId' });
    const none = credit('none', await payments.newAccount(), await payments.finance());
    await expect(none).rejects.toMatchObject({ code: 'not_found' });
  });

  it('that someone paid cannot be an expense; money that left can, and is credited to nobody', async () => {
    const paid = suspense.expenseSuspense(await came(), 'lost', asking(await payments.finance()));
    await expect(paid).rejects.toMatchObject({ code: 'conflict' });
    const itemId = await left();
    const wrong = credit(itemId, await payments.newAccount(), await payments.finance());
    await expect(wrong).rejects.toMatchObject({ code: 'conflict' });
    const people = [await payments.finance(), await payments.finance()];
    await Promise.all(people.map((actor) => suspense.expenseSuspense(itemId, 'a gift', asking(actor))));
    expect(await stateOf(itemId)).toBe('expensed');
  });

  it('that left as a cost and came back undoes that cost', async () => {
    const providerRefundId = `re_${newId()}`;
    const expense = async (itemId: string) =>
      suspense.expenseSuspense(itemId, 'a gift', asking(await payments.finance()));
    const gone = await left(providerRefundId);
    const back = await cameBack(providerRefundId);
    const owner = await payments.newAccount();
    const credited = async () => credit(back, owner, await payments.finance());
    const refused = async () => {
      await expect(credited()).rejects.toMatchObject({ code: 'conflict' });
      expect(await mayBecome(back)).not.toContain('credited');
    };
    await refused();
    await expect(expense(back)).rejects.toMatchObject({ code: 'conflict' });
    await expense(gone);
    await refused();
    await expense(back);
    expect(await Promise.all([gone, back].map(stateOf))).toEqual(['expensed', 'expensed']);
  });

  /** A refund of 1,000 minor units in suspense, of which a bank had taken 800; so 200 of it are within. @returns what came back */
  async function backInTwo(
    amount: bigint,
    beyondEnds: 'returnSuspense' | 'expenseSuspense',
  ): Promise<string[]> {
    const [payment, providerRefundId] = [await came(1_000n), `re_${newId()}`];
    const paymentId = await paymentOf(payment);
    const disputeId = `dp_${newId()}`;
    const dispute = { kind: 'dispute', disputeId, paymentId, state: 'lost', currency: 'USD' } as const;
    await itemOf({ ...dispute, amountMinor: 800n }, disputeId);
    const beyond = await left(providerRefundId, amount, paymentId);
    await suspense.returnSuspense(payment, 'back', asking(await payments.finance()));
    await suspense[beyondEnds](beyond, 'a gift', asking(await payments.finance()));
    await cameBack(providerRefundId, amount);
    await cameBack(providerRefundId, amount);
    const { rows } = await payments.ledger.billing.query<{ id: string; amount: bigint }>(
      `SELECT id, amount_minor AS amount FROM suspense_items WHERE reference = $1 AND why = 'refund_failed' ORDER BY transaction_id`,
      [providerRefundId],
    );
    expect(rows.map(({ amount }) => amount)).toEqual([200n, amount - 200n]);
    return rows.map(({ id }) => id);
  }

  it.each([300n, 400n])(
    'that left in two parts, of which one became a cost, comes back in two: %s',
    async (amount) => {
      const parts = await backInTwo(amount, 'expenseSuspense');
      expect(await Promise.all(parts.map((id) => mayBecome(id)))).toEqual([
        ['credited', 'returned'],
        ['returned', 'expensed'],
      ]);
    },
  );

  it.each([
    [400n, '3.076923076'],
    [590n, '4.538461538'],
  ])('that left in two parts is credited in both, each once: %s', async (amount, credits) => {
    const parts = await backInTwo(amount, 'returnSuspense');
    const accountId = await payments.newAccount();
    const [one, two] = [await payments.finance(), await payments.finance()];
    const all = parts.flatMap((id) => [credit(id, accountId, one), credit(id, accountId, two)]);
    expect((await Promise.all(all)).filter(({ done }) => done?.created)).toHaveLength(2);
    expect(await balanceOf(payments.ledger, accountId)).toBe(credits);
    expect(await Promise.all(parts.map(stateOf))).toEqual(['credited', 'credited']);
    const other = credit(parts[1]!, await payments.newAccount(), one);
    await expect(other).rejects.toMatchObject({ code: 'conflict' });
  });

  it('that left of a payment is credited if it comes back once that was returned, not before', async () => {
    const isCredited = async (comesBack: 'before' | 'after') => {
      const [payment, providerRefundId] = [await came(), `re_${newId()}`];
      const gone = await left(providerRefundId, 300n, await paymentOf(payment));
      const giveBack = async (itemId: string) =>
        suspense.returnSuspense(itemId, 'back', asking(await payments.finance()));
      const early = comesBack === 'before' ? await cameBack(providerRefundId) : null;
      await giveBack(payment);
      if (early) await giveBack(gone);
      const back = early ?? (await cameBack(providerRefundId));
      expect(await stateOf(gone)).toBe('returned');
      const listed = await mayBecome(back);
      const credited = credit(back, await payments.newAccount(), await payments.finance());
      const outcome = await credited.then(
        () => true,
        ({ code }) => code === 'conflict' && false,
      );
      expect(listed.includes('credited')).toBe(outcome);
      return outcome;
    };
    expect([await isCredited('before'), await isCredited('after')]).toEqual([false, true]);
  });

  it('that a refund of ours brought back after its end is credited, because its credits are gone', async () => {
    const accountId = await payments.newAccount();
    const { providerRefundId } = await refunded(accountId);
    expect(await balanceOf(payments.ledger, accountId)).toBe('0');
    const back = await cameBack(providerRefundId, 1_300n);
    expect(await mayBecome(back)).toEqual(['credited', 'returned']);
    await credit(back, accountId, await payments.finance());
    expect(await balanceOf(payments.ledger, accountId)).toBe('10');
  });

  it('of a refund of ours that failed is no other top-up: its inviter gets back what the refund took', async () => {
    const [inviterId, accountId] = [await payments.newAccount(), await payments.newAccount()];
    await payments.ledger.billing.query(
      'INSERT INTO invitations (invitee_account_id, inviter_account_id) VALUES ($1, $2)',
      [accountId, inviterId],
    );
    const earned = async () => formatAmount((await readBalance(payments.ledger.billing, inviterId))!.invite);
    const { providerRefundId } = await refunded(accountId);
    expect(await earned()).toBe('0');
    const back = await cameBack(providerRefundId, 1_300n);
    const { done } = await credit(back, accountId, await payments.finance());
    expect(await earned()).toBe('1');
    for (const _ of ['the second top-up', 'the third']) {
      await paidOrder(payments, accountId);
      expect(await earned()).toBe('2');
    }
    await refundOf(done!.topupId, '5');
    expect(await earned()).toBe('1.5');
    await refundOf(done!.topupId);
    expect(await earned()).toBe('1');
  });

  it('that a refund of ours brought back is income if a bank had taken its payment as well', async () => {
    const accountId = await payments.newAccount();
    const { paymentId, providerRefundId } = await refunded(accountId);
    const disputeId = `dp_${newId()}`;
    const dispute = { kind: 'dispute', disputeId, paymentId, state: 'lost', currency: 'USD' } as const;
    const taken = await itemOf({ ...dispute, amountMinor: 1_300n }, disputeId);
    const back = await cameBack(providerRefundId, 1_300n);
    expect(await mayBecome(back)).toEqual(['returned', 'expensed']);
    const credited = credit(back, accountId, await payments.finance());
    await expect(credited).rejects.toMatchObject({ code: 'conflict' });
    for (const itemId of [taken, back])
      await suspense.expenseSuspense(itemId, 'even', asking(await payments.finance()));
    expect(await Promise.all([taken, back].map(stateOf))).toEqual(['expensed', 'expensed']);
  });

  it.each([
    ['', false],
    [', also of a refund of it that fails meanwhile', true],
  ])(
    'credited after a refund of ours had failed is taken by a later dispute of its payment%s, and comes back with it',
    async (_, isRefunded) => {
      const accountId = await payments.newAccount();
      const { topupId, paymentId } = await paidOrder(payments, accountId);
      const providerRefundId = await refundOf(topupId, '4');
      const back = await cameBack(providerRefundId, 520n);
      const { done } = await credit(back, accountId, await payments.finance());
      const dispute = { kind: 'dispute', disputeId: `dp_${newId()}`, paymentId, currency: 'USD' } as const;
      const says = (state: 'lost' | 'won') => {
        const fact = { ...dispute, state, amountMinor: 1_300n };
        return payments.inbox.accept({ provider: 'stripe', eventId: newId(), type: 'test', fact });
      };
      const left = async () => [await balanceOf(payments.ledger, accountId), ...(await lotsOf(accountId))];
      const before = await left();
      expect(before).toEqual(['10', '6', '4']);
      const again = isRefunded ? await beginRefund(payments.ledger, done!.topupId, null) : null;
      expect(await says('lost')).toMatchObject({ state: 'applied' });
      if (again)
        await inTransaction(payments.ledger.billing, (client) =>
          endTopupRefund(client, { refundId: again.id, providerRefundId: null, outcome: 'failed' }),
        );
      expect(await left()).toEqual(['0', '0', '0']);
      await expect(refundOf(topupId)).rejects.toMatchObject({ code: 'conflict' });
      await says('won');
      expect(await left()).toEqual(before);
    },
  );

  it('is not decided by the person who would receive it, or who paid', async () => {
    const actor = await payments.finance();
    await expect(credit(await came(), actor.accountId, actor)).rejects.toMatchObject({
      code: 'second_person_required',
    });
    const { id: orderId } = await orderOf(payments, actor.accountId);
    const itemId = await came(1_299n, { orderId });
    const excess = await takenBeyond(actor.accountId);
    for (const each of [itemId, excess]) {
      await expect(suspense.returnSuspense(each, 'to me', asking(actor))).rejects.toMatchObject({
        code: 'second_person_required',
      });
      expect(await stateOf(each)).toBe('open');
    }
  });
});

describe('above the limit of one person', () => {
  const LARGE = 13_013n;

  it('money in suspense is credited once another person agrees, and only once', async () => {
    const [itemId, accountId] = [await came(LARGE), await payments.newAccount()];
    const [asks, agrees] = [await payments.finance(), await payments.finance()];
    const { approvalId } = await credit(itemId, accountId, asks);
    expect(await stateOf(itemId)).toBe('open');
    await expect(payments.approve(approvalId, asks)).rejects.toMatchObject({
      code: 'second_person_required',
    });
    await Promise.all([payments.approve(approvalId, agrees), payments.approve(approvalId, agrees)]);
    expect(await balanceOf(payments.ledger, accountId)).toBe('100.1');
    expect(await takenFor(itemId)).toBe(1);
    expect((await credit(itemId, accountId, asks)).done).toMatchObject({ created: false });
  });

  it('money is credited as that person saw it, or not at all if the rate of the account changed', async () => {
    const [itemId, accountId] = [await came(LARGE), await payments.newAccount()];
    const [asks, agrees] = [await payments.finance(), await payments.finance()];
    const { approvalId } = await credit(itemId, accountId, asks);
    await payments.ledger.owner.query(
      `INSERT INTO account_rate_versions (account_id, rate, effective_from, reason, actor, request_id)
       VALUES ($1, 1.2, now(), 'a reseller', 'test', $2)`,
      [accountId, newId()],
    );
    await expect(payments.approve(approvalId, agrees)).rejects.toMatchObject({ code: 'conflict' });
    expect(await balanceOf(payments.ledger, accountId)).toBe('0');
    expect(await takenFor(itemId)).toBe(0);
    const again = await credit(itemId, accountId, asks);
    await payments.approve(again.approvalId, agrees);
    expect(await balanceOf(payments.ledger, accountId)).toBe('108.441666666');
  });

  it('money that was returned while it waited is not credited by the approval, and counts once', async () => {
    const [itemId, accountId] = [await came(LARGE), await payments.newAccount()];
    const { approvalId } = await credit(itemId, accountId, await payments.finance());
    const back = await suspense.returnSuspense(itemId, 'back', asking(await payments.finance()));
    await payments.approve(back.approvalId, await payments.finance());
    await expect(payments.approve(approvalId, await payments.finance())).rejects.toMatchObject({
      code: 'conflict',
    });
    expect(await balanceOf(payments.ledger, accountId)).toBe('0');
    expect(await takenFor(itemId)).toBe(1);
  });

  it('money is returned once another person agrees, and only once', async () => {
    const itemId = await came(LARGE);
    const [asks, agrees] = [await payments.finance(), await payments.finance()];
    const back = () => suspense.returnSuspense(itemId, 'back', asking(asks));
    const { done, approvalId } = await back();
    expect(done).toBeNull();
    expect(await back()).toEqual({ done: null, approvalId });
    expect(await stateOf(itemId)).toBe('open');
    await expect(payments.approve(approvalId, asks)).rejects.toMatchObject({
      code: 'second_person_required',
    });
    await Promise.all([payments.approve(approvalId, agrees), payments.approve(approvalId, agrees)]);
    expect(await stateOf(itemId)).toBe('returned');
    expect(await back()).toEqual({ done: true, approvalId: null });
    expect(await takenFor(itemId)).toBe(1);
  });

  it('returns add up over a day', async () => {
    const person = await payments.finance();
    const [one, two] = [await came(6_000n), await came(6_000n)];
    expect(await suspense.returnSuspense(one, 'back', asking(person))).toMatchObject({ done: true });
    expect(await suspense.returnSuspense(two, 'back', asking(person))).toMatchObject({ done: null });
  });

  it('money that left becomes a cost once another person agrees; money that came is income at once', async () => {
    const person = await payments.finance();
    const taken = await left(undefined, LARGE);
    const { approvalId } = await suspense.expenseSuspense(taken, 'a gift', asking(person));
    expect(await stateOf(taken)).toBe('open');
    await payments.approve(approvalId, await payments.finance());
    expect(await stateOf(taken)).toBe('expensed');
    const providerRefundId = `re_${newId()}`;
    const gone = await left(providerRefundId);
    await suspense.expenseSuspense(gone, 'a gift', asking(person));
    const back = await cameBack(providerRefundId);
    expect(await suspense.expenseSuspense(back, 'undone', asking(person))).toMatchObject({ done: true });
    expect(await takenFor(back)).toBe(0);
  });
});
