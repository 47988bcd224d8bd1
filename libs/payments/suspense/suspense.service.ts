import type pg from 'pg';
import { z } from 'zod';
import { audit } from '#identity/audit-log.js';
import { refuseOwnInterest } from '#identity/own-interest.js';
import type { TopupRequest, TopupResult } from '#ledger/postings/topup.js';
import { formatAmount, type Nanos } from '#money/amount.js';
import { ApiError } from '#platform/errors.js';
import type { Done } from '#approvals/approval.service.js';
import { convertForAccount } from '#topup/account-rates.js';
import {
  type FinanceRequest,
  creditOrRefuse,
  type FinanceAuthor,
  requireAccount,
  requireHouseCurrency,
  requireLeastTopup,
} from '../finance-credit.js';
import { LimitedCredit, type LimitedCreditParts } from '../limited-credit.js';
import { continuedBy, isPayment, lockGone, lockItem, type LockedItem, paymentIdOf } from './suspense.item.js';
import { SuspenseSettlement } from './suspense.settlement.js';

const suspensePayload = z.object({ itemId: z.string(), accountId: z.string(), note: z.string() });
type SuspensePayload = z.infer<typeof suspensePayload>;

const CREDITED = `UPDATE suspense_items SET state = 'credited', cleared_transaction_id = $2, cleared_by = $3,
    cleared_at = now(), note = $4, topup_id = $5 WHERE id = $1`;

/** Money that matches no order: credited to the intended account, returned, or booked as a cost; by two people above the limit. */
export class SuspenseService {
  private readonly credits: LimitedCredit<SuspensePayload>;
  private readonly settlement: SuspenseSettlement;

  constructor(private readonly parts: LimitedCreditParts) {
    this.credits = new LimitedCredit(parts, {
      kind: 'suspense.credit',
      payload: suspensePayload,
      subjectOf: ({ itemId }) => `suspense:${itemId}`,
      credit: (client, payload, by) => this.credit(client, payload, by),
    });
    this.settlement = new SuspenseSettlement(parts);
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

  /** Books that money in suspense was returned to its source. */
  returnSuspense(itemId: string, note: string, asking: FinanceRequest): Promise<Done<true>> {
    return this.settlement.settle('suspense.return', { itemId, note }, asking);
  }

  /**
   * Books that money in suspense is a cost: money that left, a provider's unexplained adjustment, or what undoes
   * such a cost.
   * @throws ApiError conflict for someone's payment
   */
  expenseSuspense(itemId: string, note: string, asking: FinanceRequest): Promise<Done<true>> {
    return this.settlement.settle('suspense.expense', { itemId, note }, asking);
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
        'The customer lost no credits by this dispute: return it, or book it as income.',
      );
    if (!(await isPayment(client, item)))
      throw new ApiError(
        'conflict',
        `Nobody lost credits or a payment by refund ${item.reference}. Return both items, or book both.`,
      );
    const [gone] = await lockGone(client, item);
    if (gone) throw new ApiError('conflict', whyGone(gone));
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
    const { state, provider, amountMinor: paidMinor, currency, credits, rate } = item;
    if (state === 'returned' || state === 'expensed')
      throw new ApiError('conflict', `The money has already been ${state}.`);
    const terms =
      state === 'credited'
        ? await termsOf(client, item.topupId as string)
        : { credits, rate, paymentId: await paymentIdOf(client, item) };
    const continues = await continuedBy(client, item, accountId);
    const paid = { accountId, provider, paidMinor, currency, fromSuspense: true };
    const result = await creditOrRefuse(client, { ...paid, ...terms, continues });
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

function whyGone({ why, reference }: LockedItem): string {
  if (why === 'unknown_refund') return `It was refunded at the provider, by refund ${reference}: return it.`;
  return `The bank took it back, by dispute ${reference}: return it, or wait until the dispute is won.`;
}

type Terms = Pick<TopupRequest, 'credits' | 'rate' | 'paymentId'>;

async function termsOf(client: pg.ClientBase, topupId: string): Promise<Terms> {
  const { rows } = await client.query<Terms>(
    'SELECT credits, trim_scale(rate)::text AS rate, payment_id AS "paymentId" FROM topups WHERE id = $1',
    [topupId],
  );
  return rows[0] as Terms;
}
