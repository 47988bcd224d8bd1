import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { recordLimit } from '#ledger/postings/outflow.js';
import { formatAmount, parseAmount } from '#money/amount.js';
import { newId } from '#platform/ids.js';
import {
  asking,
  balanceOf,
  NOBODY_WAITS,
  openPayments,
  orderOf,
  type PaymentsFixture,
} from '../../test/support/payments.js';
import { onOneDay } from '../../test/support/utc-day.js';
import { type Transfer, TransferService } from './transfer.service.js';

let payments: PaymentsFixture;
let transfers: TransferService;

beforeAll(async () => {
  payments = await openPayments();
  const { source, config, approvals, ledger } = payments;
  transfers = new TransferService({ source, config, approvals, relay: NOBODY_WAITS });
  await recordLimit(ledger.billing, 'manual-topup', parseAmount('100'));
});
afterAll(() => payments.close());

/** 13.00 for ten credits, unless given otherwise. */
function transferTo(accountId: string, of: Partial<Transfer> = {}): Transfer {
  const about = { orderId: null, currency: 'USD', valueDate: null, reason: 'as the bank says' };
  return { accountId, paymentId: `bank-${newId()}`, paidMinor: 1_300n, ...about, ...of };
}

/** What counts toward the limits of people. */
async function outflowsOf(paymentId: string): Promise<string[]> {
  const { rows } = await payments.ledger.billing.query<{ amount: bigint }>(
    'SELECT amount FROM outflows WHERE reference = $1',
    [`payment:manual:${paymentId}`],
  );
  return rows.map(({ amount }) => formatAmount(amount as never));
}

describe('a bank transfer', () => {
  it("buys at the account's rate, once, however often it is recorded", async () => {
    const accountId = await payments.newAccount();
    const transfer = transferTo(accountId);
    const actor = await payments.finance();
    const first = await transfers.recordTransfer(transfer, asking(actor));
    const again = await transfers.recordTransfer(transfer, asking(actor));
    expect(first.done).toMatchObject({ created: true, credits: parseAmount('10') });
    expect(again.done).toMatchObject({ created: false, topupId: first.done?.topupId });
    expect(await balanceOf(payments.ledger, accountId)).toBe('10');
    expect(await outflowsOf(transfer.paymentId)).toEqual(['10']);
  });

  it('that two people record at once is credited once, and counts toward the limit of one', async () => {
    const accountId = await payments.newAccount();
    const transfer = transferTo(accountId);
    const people = await Promise.all([payments.finance(), payments.finance(), payments.finance()]);
    const answers = await Promise.all(
      people.map((actor) => transfers.recordTransfer(transfer, asking(actor))),
    );
    expect(answers.filter(({ done }) => done?.created)).toHaveLength(1);
    expect(new Set(answers.map(({ done }) => done?.topupId)).size).toBe(1);
    expect(await balanceOf(payments.ledger, accountId)).toBe('10');
    expect(await outflowsOf(transfer.paymentId)).toEqual(['10']);
  });

  it.each([
    ['to someone else', async () => ({ accountId: await payments.newAccount() })],
    ['with another amount', async () => ({ paidMinor: 1_301n })],
  ])('%s under the reference of another transfer is refused', async (_, change) => {
    const accountId = await payments.newAccount();
    const transfer = transferTo(accountId);
    await transfers.recordTransfer(transfer, asking(await payments.finance()));
    const other = { ...transfer, ...(await change()) };
    await expect(transfers.recordTransfer(other, asking(await payments.finance()))).rejects.toMatchObject({
      code: 'conflict',
    });
    expect(await balanceOf(payments.ledger, accountId)).toBe('10');
  });

  it.each([
    ['to an unknown account', { accountId: 'nobody' }, 'accountId'],
    ['in another currency', { currency: 'EUR' }, 'currency'],
    ['too small to buy a credit', { paidMinor: 129n }, 'paid'],
    ['with a future date', { valueDate: '2999-01-01' }, 'valueDate'],
    ['with a date before its account existed', { valueDate: '2001-01-01' }, 'valueDate'],
    ['for an unknown order', { orderId: 'none' }, 'orderId'],
  ])('%s is refused, and counts toward no limit', async (_, changed, param) => {
    const transfer = transferTo(await payments.newAccount(), changed);
    await expect(transfers.recordTransfer(transfer, asking(await payments.finance()))).rejects.toMatchObject({
      code: 'invalid_value',
      param,
    });
    expect(await outflowsOf(transfer.paymentId)).toEqual([]);
  });

  it('to the account of the person who records it waits for someone else', async () => {
    const actor = await payments.finance();
    await expect(transfers.recordTransfer(transferTo(actor.accountId), asking(actor))).rejects.toMatchObject({
      code: 'second_person_required',
    });
  });
});

describe('a bank transfer for an order', () => {
  it('pays it to the cent, and no second one does', async () => {
    const accountId = await payments.newAccount();
    const { id: orderId } = await orderOf(payments, accountId, { provider: 'manual' });
    const record = async (of: Partial<Transfer> = {}) =>
      transfers.recordTransfer(transferTo(accountId, { orderId, ...of }), asking(await payments.finance()));
    await expect(record({ paidMinor: 1_299n })).rejects.toMatchObject({ code: 'conflict', param: 'paid' });
    const ends = await Promise.allSettled([record(), record()]);
    expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(ends.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'conflict' } });
    expect(await payments.orders.show(accountId, orderId)).toMatchObject({ state: 'paid' });
    expect(await balanceOf(payments.ledger, accountId)).toBe('10');
  });

  it('that expired pays it at its rate, but not once the account has another', async () => {
    const accountId = await payments.newAccount();
    const orders = await Promise.all(
      [1, 2, 3].map(() => orderOf(payments, accountId, { provider: 'manual' })),
    );
    const [early, onTime, late] = orders.map(({ id }) => id);
    await payments.ledger.owner.query(
      `UPDATE topup_orders SET expires_at = now() - interval '1 second' WHERE account_id = $1`,
      [accountId],
    );
    const record = async (of: Partial<Transfer>) =>
      transfers.recordTransfer(transferTo(accountId, of), asking(await payments.finance()));
    await record({ orderId: early! });
    await payments.ledger.owner.query(
      `INSERT INTO account_rate_versions (account_id, rate, effective_from, reason, actor, request_id)
       VALUES ($1, 1.2, now(), 'a reseller', 'test', $2)`,
      [accountId, newId()],
    );
    await expect(record({ orderId: late! })).rejects.toMatchObject({ code: 'conflict', param: 'orderId' });
    expect(await balanceOf(payments.ledger, accountId)).toBe('10');
    await payments.ledger.owner.query(
      `UPDATE topup_orders SET expires_at = now() + interval '1 hour' WHERE id = $1`,
      [onTime],
    );
    await record({ orderId: onTime! });
    expect(await balanceOf(payments.ledger, accountId)).toBe('20');
    await record({});
    expect(await balanceOf(payments.ledger, accountId)).toBe('30.833333333');
  });
});

describe('above the limit of one person', () => {
  const LARGE = { paidMinor: 13_013n };

  it('a transfer waits for another person, who credits it once', async () => {
    const accountId = await payments.newAccount();
    const transfer = transferTo(accountId, LARGE);
    const [asks, agrees] = [await payments.finance(), await payments.finance()];
    const request = asking(asks);
    const [one, two] = await Promise.all([
      transfers.recordTransfer(transfer, request),
      transfers.recordTransfer(transfer, request),
    ]);
    expect(one.approvalId).not.toBeNull();
    expect(two.approvalId).toBe(one.approvalId);
    expect(await balanceOf(payments.ledger, accountId)).toBe('0');
    await expect(payments.approve(one.approvalId, asks)).rejects.toMatchObject({
      code: 'second_person_required',
    });
    await Promise.all([payments.approve(one.approvalId, agrees), payments.approve(one.approvalId, agrees)]);
    expect(await balanceOf(payments.ledger, accountId)).toBe('100.1');
    expect(await outflowsOf(transfer.paymentId)).toEqual(['100.1']);
    expect((await transfers.recordTransfer(transfer, request)).done).toMatchObject({ created: false });
  });

  it('two approvals of one transfer credit it once', async () => {
    const accountId = await payments.newAccount();
    const transfer = transferTo(accountId, LARGE);
    const asked = await Promise.all(
      [await payments.finance(), await payments.finance()].map((actor) =>
        transfers.recordTransfer(transfer, asking(actor)),
      ),
    );
    const agrees = await payments.finance();
    await Promise.all(asked.map(({ approvalId }) => payments.approve(approvalId, agrees)));
    expect(await balanceOf(payments.ledger, accountId)).toBe('100.1');
    expect(await outflowsOf(transfer.paymentId)).toEqual(['100.1']);
  });

  it('two transfers whose ids hold an email address stay two', async () => {
    const accountId = await payments.newAccount();
    const [asks, agrees] = [await payments.finance(), await payments.finance()];
    for (const payer of ['ada', 'bob']) {
      const transfer = transferTo(accountId, { ...LARGE, paymentId: `${payer}@bank.example/${newId()}` });
      const { approvalId } = await transfers.recordTransfer(transfer, asking(asks));
      await payments.approve(approvalId, agrees);
      expect((await transfers.recordTransfer(transfer, asking(asks))).done).toMatchObject({ created: false });
    }
    expect(await balanceOf(payments.ledger, accountId)).toBe('200.2');
  });

  it('if another transfer paid the order meanwhile, the approval is refused and can be rejected', async () => {
    const accountId = await payments.newAccount();
    const { id: orderId } = await orderOf(payments, accountId, { credits: '101', provider: 'manual' });
    const ask = async () => {
      const transfer = transferTo(accountId, { orderId, paidMinor: 13_130n });
      return transfers.recordTransfer(transfer, asking(await payments.finance()));
    };
    const asked = [await ask(), await ask()];
    const agrees = await payments.finance();
    const ends = await Promise.allSettled(
      asked.map(({ approvalId }) => payments.approve(approvalId, agrees)),
    );
    expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(ends.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'conflict' } });
    expect(await balanceOf(payments.ledger, accountId)).toBe('101');
    const left = asked[ends.findIndex(({ status }) => status === 'rejected')]!.approvalId as string;
    const rejected = { approvalId: left, actor: agrees, note: 'paid', requestId: newId() };
    expect(await payments.approvals.reject(rejected)).toMatchObject({ state: 'rejected' });
  });

  it('are also two transfers below it, recorded at once by one person', () =>
    onOneDay(async () => {
      const actor = await payments.finance();
      const each = [await payments.newAccount(), await payments.newAccount()].map((accountId) =>
        transferTo(accountId, { paidMinor: 7_800n }),
      );
      const answers = await Promise.all(
        each.map((transfer) => transfers.recordTransfer(transfer, asking(actor))),
      );
      expect(answers.filter(({ done }) => done !== null)).toHaveLength(1);
      expect(answers.filter(({ approvalId }) => approvalId !== null)).toHaveLength(1);
    }));

  it('a request id that was used for another transfer is refused', async () => {
    const request = asking(await payments.finance());
    await transfers.recordTransfer(transferTo(await payments.newAccount(), LARGE), request);
    await expect(
      transfers.recordTransfer(transferTo(await payments.newAccount(), LARGE), request),
    ).rejects.toMatchObject({ code: 'conflict', param: 'requestId' });
  });
});
