import type pg from 'pg';
import { z } from 'zod';
import { inEntityTransaction } from '#database/entity-transaction.js';
import { audit } from '#identity/audit-log.js';
import { refuseOwnInterest } from '#identity/own-interest.js';
import {
  bookSuspenseExpensed,
  bookSuspenseReturned,
  type SuspenseItem,
  type SuspenseWhy,
} from '#ledger/postings/suspense.js';
import type { TopupRequest, TopupResult } from '#ledger/postings/topup.js';
import { formatAmount, type Nanos } from '#money/amount.js';
import { ApiError } from '#platform/errors.js';
import type { Done } from '#approvals/approval.service.js';
import { convertForAccount } from '#topup/account-rates.js';
import { viewPayment } from './payment.fields.js';
import {
  type FinanceRequest,
  creditOrRefuse,
  type FinanceAuthor,
  requireAccount,
  requireHouseCurrency,
  requireLeastTopup,
} from './finance-credit.js';
import { LimitedCredit, type LimitedCreditParts } from './limited-credit.js';

const suspensePayload = z.object({ itemId: z.string(), accountId: z.string(), note: z.string() });
type SuspensePayload = z.infer<typeof suspensePayload>;

interface Clearing {
  asking: FinanceRequest;
  state: 'returned' | 'expensed';
  book: typeof bookSuspenseReturned;
}

/** Incoming money that we may keep, because it is nobody's payment for something to come. */
const KEPT: readonly SuspenseWhy[] = ['provider_adjustment', 'dispute_after_deletion', 'dispute_won'];

const CLEARED = `UPDATE suspense_items SET state = $5, cleared_transaction_id = $2, cleared_by = $3,
    cleared_at = now(), note = $4 WHERE id = $1`;
const CREDITED = `UPDATE suspense_items SET state = 'credited', cleared_transaction_id = $2, cleared_by = $3,
    cleared_at = now(), note = $4, topup_id = $5 WHERE id = $1`;

/** Money that matches no order: credited to the intended account, by two people above the limit, or returned. */
export class SuspenseService {
  private readonly credits: LimitedCredit<SuspensePayload>;

  constructor(private readonly parts: LimitedCreditParts) {
    this.credits = new LimitedCredit(parts, {
      kind: 'suspense.credit',
      payload: suspensePayload,
      subjectOf: ({ itemId }) => `suspense:${itemId}`,
      credit: (client, payload, by) => this.credit(client, payload, by),
    });
  }

  /** Credits money in suspense to its intended account, at the account's rate. */
  creditSuspense(payload: SuspensePayload, asking: FinanceRequest): Promise<Done<TopupResult>> {
    const plan = async (client: pg.ClientBase) => {
      await refuseOwnInterest(client, asking.actor, payload.accountId);
      const { credits, state } = await this.planItem(client, payload);
      return { payload, credits, reason: payload.note, isRepeated: state !== 'open' };
    };
    return this.credits.creditOrAsk(plan, asking);
  }

  /** Books that money in suspense was returned. */
  async returnSuspense(itemId: string, note: string, asking: FinanceRequest): Promise<void> {
    await this.clear(itemId, note, { asking, state: 'returned', book: bookSuspenseReturned });
  }

  /**
   * Books that money in suspense is a cost: money that left, a provider's unexplained adjustment, or what undoes
   * such a cost.
   * @throws ApiError conflict for someone's payment
   */
  async expenseSuspense(itemId: string, note: string, asking: FinanceRequest): Promise<void> {
    await this.clear(itemId, note, { asking, state: 'expensed', book: bookSuspenseExpensed });
  }

  private async clear(itemId: string, note: string, { asking, state, book }: Clearing): Promise<void> {
    await inEntityTransaction(this.parts.source, async ({ client }) => {
      const item = await lockItem(client, itemId);
      await refuseOwnInterest(client, asking.actor, await payerOf(client, item));
      if (item.state === state) return;
      if (item.state !== 'open') throw new ApiError('conflict', `The item has already been ${item.state}.`);
      if (state === 'expensed' && item.amountMinor > 0n && !(await mayKeep(client, item)))
        throw new ApiError('conflict', 'This is a payment: credit it or return it.');
      const by = `user:${asking.actor.userId}`;
      const transactionId = await book(client, item, this.parts.config.payments.currency);
      await client.query(CLEARED, [itemId, transactionId, by, note, state]);
      await audit(client, {
        actor: by,
        action: `suspense.${state}`,
        subject: `suspense:${itemId}`,
        after: { amount: viewPayment(item.amountMinor), currency: item.currency, note },
        requestId: asking.auditId,
      });
    });
  }

  private async planItem(
    client: pg.ClientBase,
    { itemId, accountId }: SuspensePayload,
  ): Promise<LockedItem & { credits: Nanos; rate: TopupRequest['rate'] }> {
    const item = await lockItem(client, itemId);
    requireHouseCurrency(item.currency, this.parts.config.payments.currency);
    await requireAccount(client, accountId);
    if (item.amountMinor <= 0n) throw new ApiError('conflict', 'Outgoing money cannot be credited.');
    if (item.why === 'dispute_won')
      throw new ApiError(
        'conflict',
        'It undoes a cost, and the customer lost no credits: book it as income.',
      );
    const bought = await convertForAccount(client, accountId, { payMinor: item.amountMinor });
    if (item.state === 'open') requireLeastTopup(bought, 'amount');
    return { ...item, credits: bought.credits, rate: bought.rate };
  }

  private async credit(
    client: pg.ClientBase,
    payload: SuspensePayload,
    by: FinanceAuthor,
  ): Promise<TopupResult> {
    const { itemId, accountId, note } = payload;
    const item = await this.planItem(client, payload);
    const { state, provider, reference: paymentId, amountMinor: paidMinor, currency, credits, rate } = item;
    if (state === 'returned' || state === 'expensed')
      throw new ApiError('conflict', `The money has already been ${state}.`);
    const terms = state === 'credited' ? await termsOf(client, item.topupId as string) : { credits, rate };
    const paid = { accountId, provider, paymentId, paidMinor, currency, fromSuspense: true };
    const result = await creditOrRefuse(client, { ...paid, ...terms });
    if (!result.created) return result;
    await client.query(CREDITED, [itemId, result.transactionId, by.actor, note, result.topupId]);
    await audit(client, {
      actor: by.actor,
      action: 'suspense.credited',
      subject: `suspense:${itemId}`,
      accountId,
      after: { topupId: result.topupId, credits: formatAmount(result.credits), note },
      requestId: by.auditId,
    });
    return result;
  }
}

/** Whether it is nobody's payment: also a refund that left as a cost, and came back. */
async function mayKeep(client: pg.ClientBase, { provider, reference, why }: LockedItem): Promise<boolean> {
  if (why !== 'refund_failed') return KEPT.includes(why);
  const { rowCount } = await client.query(
    `SELECT FROM suspense_items WHERE provider = $1 AND reference = $2 AND why = 'unknown_refund' AND state = 'expensed'`,
    [provider, reference],
  );
  return rowCount === 1;
}

/** The account of the order that the payment named, if any. */
async function payerOf(client: pg.ClientBase, { orderId }: LockedItem): Promise<string | null> {
  const { rows } = await client.query<{ accountId: string }>(
    'SELECT account_id AS "accountId" FROM topup_orders WHERE id = $1',
    [orderId],
  );
  return rows[0]?.accountId ?? null;
}

async function termsOf(
  client: pg.ClientBase,
  topupId: string,
): Promise<Pick<TopupRequest, 'credits' | 'rate'>> {
  const { rows } = await client.query<Pick<TopupRequest, 'credits' | 'rate'>>(
    'SELECT credits, trim_scale(rate)::text AS rate FROM topups WHERE id = $1',
    [topupId],
  );
  return rows[0] as Pick<TopupRequest, 'credits' | 'rate'>;
}

interface LockedItem extends SuspenseItem {
  id: string;
  transactionId: bigint;
  state: 'open' | 'credited' | 'returned' | 'expensed';
  topupId: string | null;
}

async function lockItem(client: pg.ClientBase, itemId: string): Promise<LockedItem> {
  const { rows } = await client.query<LockedItem>(
    `SELECT id, provider, reference, order_id AS "orderId", amount_minor AS "amountMinor", currency, why, state,
       transaction_id AS "transactionId", topup_id AS "topupId"
     FROM suspense_items WHERE id = $1 FOR UPDATE`,
    [itemId],
  );
  if (!rows[0]) throw new ApiError('not_found', 'There is no such item.');
  return rows[0];
}
