import type pg from 'pg';
import { z } from 'zod';
import { inEntityTransaction } from '#database/entity-transaction.js';
import { audit } from '#identity/audit-log.js';
import { refuseOwnInterest } from '#identity/own-interest.js';
import { lockOutflows, takeOutflow } from '#ledger/postings/outflow.js';
import { bookSuspenseExpensed, bookSuspenseReturned } from '#ledger/postings/suspense.js';
import { nanos } from '#money/amount.js';
import { minorToNanos } from '#money/currency.js';
import { ApiError } from '#platform/errors.js';
import type { Done } from '#approvals/approval.service.js';
import { approvedAuthor, type FinanceAuthor, type FinanceRequest, requestAuthor } from '../finance-credit.js';
import type { LimitedCreditParts } from '../limited-credit.js';
import { viewPayment } from '../payment.fields.js';
import {
  accountOfOrder,
  lockGoneWithin,
  lockItem,
  type LockedItem,
  mayBeExpensed,
  requirePaymentEnded,
} from './suspense.item.js';

const WAYS = {
  'suspense.return': { state: 'returned', book: bookSuspenseReturned },
  'suspense.expense': { state: 'expensed', book: bookSuspenseExpensed },
} as const;
type Way = keyof typeof WAYS;

const settlement = z.object({ itemId: z.string(), note: z.string() });
type Settlement = z.infer<typeof settlement>;

const SETTLED = `UPDATE suspense_items SET state = $5, cleared_transaction_id = $2, cleared_by = $3,
    cleared_at = now(), note = $4 WHERE id = $1`;

/** How money in suspense ends that is credited to nobody. What we lose by it counts toward a daily limit of one person. */
export class SuspenseSettlement {
  constructor(private readonly parts: Pick<LimitedCreditParts, 'source' | 'config' | 'approvals'>) {
    for (const way of ['suspense.return', 'suspense.expense'] as const)
      parts.approvals.register({
        kind: way,
        roles: ['finance'],
        payload: settlement,
        apply: async (client, asked, context) => {
          const item = await lockItem(client, asked.itemId);
          if (item.state === WAYS[way].state) return;
          await requireOpen(client, item, way);
          const by = approvedAuthor(context);
          await this.take(client, item, { way, by });
          await this.book(client, item, { way, by, note: asked.note });
        },
      });
  }

  /** Books it once, or requests the approval of a second person. */
  settle(way: Way, { itemId, note }: Settlement, asking: FinanceRequest): Promise<Done<true>> {
    return inEntityTransaction(this.parts.source, async (transaction) => {
      const { client } = transaction;
      const { actor, requestId } = asking;
      const by = requestAuthor(asking);
      await lockOutflows(client, by.actor);
      const item = await lockItem(client, itemId);
      const accountId = await accountOfOrder(client, item);
      await refuseOwnInterest(client, actor, accountId);
      if (item.state === WAYS[way].state) return { done: true, approvalId: null };
      await requireOpen(client, item, way);
      if (await this.take(client, item, { way, by })) {
        await this.book(client, item, { way, by, note });
        return { done: true, approvalId: null };
      }
      const about = { kind: way, subject: `suspense:${itemId}`, accountId, payload: { itemId, note } };
      const asked = { ...about, actor, requestId, reason: note, amount: nanos(amountOf(item)) };
      return { done: null, approvalId: (await this.parts.approvals.requestOnce(transaction, asked)).id };
    });
  }

  /** Amounts in another currency than the installation's cannot be compared with the limit, so they always take two. */
  private async take(
    client: pg.ClientBase,
    item: LockedItem,
    { way: kind, by: { actor, approvedBy } }: { way: Way; by: FinanceAuthor },
  ): Promise<boolean> {
    const isLoss = (kind === 'suspense.return') === item.amountMinor > 0n;
    if (!isLoss) return true;
    if (approvedBy === null && item.currency !== this.parts.config.payments.currency) return false;
    const [amount, reference] = [amountOf(item), `suspense:${item.id}`];
    return (await takeOutflow(client, { kind, actor, approvedBy, amount, reference, accountId: null })).taken;
  }

  /** A payment is returned together with what left of it: less is left to return, or nothing. */
  private async book(
    client: pg.ClientBase,
    item: LockedItem,
    { way, by, note }: { way: Way; by: FinanceAuthor; note: string },
  ): Promise<void> {
    const { state, book } = WAYS[way];
    const transactionId = await book(client, item, this.parts.config.payments.currency);
    await client.query(SETTLED, [item.id, transactionId, by.actor, note, state]);
    await audit(client, {
      actor: by.actor,
      action: `suspense.${state}`,
      subject: `suspense:${item.id}`,
      after: { amount: viewPayment(item.amountMinor), currency: item.currency, note },
      requestId: by.auditId,
    });
    if (way === 'suspense.return')
      for (const gone of await lockGoneWithin(client, item)) await this.book(client, gone, { way, by, note });
  }
}

function amountOf({ amountMinor, currency }: LockedItem): bigint {
  return minorToNanos(amountMinor < 0n ? -amountMinor : amountMinor, currency);
}

async function requireOpen(client: pg.ClientBase, item: LockedItem, way: Way): Promise<void> {
  if (item.state !== 'open') throw new ApiError('conflict', `The item has already been ${item.state}.`);
  await requirePaymentEnded(client, item);
  if (way === 'suspense.expense' && !(await mayBeExpensed(client, item)))
    throw new ApiError('conflict', 'This is a payment: credit it or return it.');
}
