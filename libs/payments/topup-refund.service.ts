import type pg from 'pg';
import { DataSource } from 'typeorm';
import { z } from 'zod';
import { inEntityTransaction } from '#database/entity-transaction.js';
import { audit } from '#identity/audit-log.js';
import { refuseOwnInterest } from '#identity/own-interest.js';
import { lockOutflows, takeOutflow } from '#ledger/postings/outflow.js';
import { lockBalance } from '#ledger/postings/posting.js';
import {
  beginTopupRefund,
  endTopupRefund,
  findRepeatedRefund,
  findTopupRefund,
  type TopupRefund,
} from '#ledger/postings/topup-refund.js';
import { formatAmount, type Nanos, parseAmount } from '#money/amount.js';
import { ApiError } from '#platform/errors.js';
import { ApprovalService, type Done } from '#approvals/approval.service.js';
import { viewPayment } from './payment.fields.js';
import { type FinanceRequest, type FinanceAuthor, requestAuthor, approvedAuthor } from './finance-credit.js';
import { RefundRunner } from './refund.runner.js';

const refundPayload = z.object({ topupId: z.string(), credits: z.string().nullable() });
type RefundPayload = z.infer<typeof refundPayload>;

export interface TopupRefundServiceParts {
  readonly source: DataSource;
  readonly approvals: ApprovalService;
  readonly runner: Pick<RefundRunner, 'run'>;
}

interface AskedRefund {
  topupId: string;
  /** Null: everything unused. */
  credits: Nanos | null;
  reason: string;
}

interface RefundOutcome {
  refundId: string;
  outcome: 'succeeded' | 'failed';
  reference: string | null;
  note: string;
}

/** Refunds of top-ups, requested by finance, by two people above the limit. */
export class TopupRefundService {
  constructor(private readonly parts: TopupRefundServiceParts) {
    parts.approvals.register({
      kind: 'topup.refund',
      roles: ['finance'],
      payload: refundPayload,
      apply: async (client, payload, context) => {
        const by = approvedAuthor(context);
        const refund = await this.begin(client, { ...payload, reason: context.reason }, by);
        await takeRefund(client, { ...refund, amount: refund.credits }, by);
        return { refundId: refund.id };
      },
      // The approver does not wait for the provider. If this fails, the reconciler continues.
      applied: (outcome) =>
        void this.parts.runner.run((outcome as { refundId: string }).refundId).catch(() => undefined),
    });
  }

  /** Refunds the unused part of a top-up, or less. The provider is asked after the commit. */
  async refund(asked: AskedRefund, asking: FinanceRequest): Promise<Done<TopupRefund>> {
    const result = await inEntityTransaction(this.parts.source, async (transaction) => {
      const { client } = transaction;
      const { topupId, credits, reason } = asked;
      const { actor, requestId } = asking;
      const by = requestAuthor(asking);
      await lockOutflows(client, by.actor);
      const topup = await findTopup(client, topupId);
      const { accountId } = topup;
      await refuseOwnInterest(client, actor, accountId);
      await lockBalance(client, accountId);
      const repeated = await findRepeatedRefund(client, { topupId, requestId, credits });
      if (repeated) return { done: repeated, approvalId: null };
      const payload = { topupId, credits: credits === null ? null : formatAmount(credits) };
      // Only the ledger knows what is unused. The whole top-up is the most that it can be.
      const amount = credits ?? topup.credits;
      const about = { kind: 'topup.refund', subject: `topup:${topupId}`, accountId };
      const approval = { ...about, actor, requestId, payload, amount, reason };
      const isSmall = await takeRefund(client, { ...topup, topupId, amount }, by);
      const begin = () => this.begin(client, { ...payload, reason }, by);
      return this.parts.approvals.doOrAsk(transaction, approval, isSmall ? begin : null);
    });
    if (result.done === null) return result;
    return { done: (await this.parts.runner.run(result.done.id)) ?? result.done, approvalId: null };
  }

  /** Records the outcome of a refund by bank transfer. @throws ApiError conflict for a provider that reports it itself */
  async confirmRefund(
    { refundId, outcome, reference, note }: RefundOutcome,
    { actor, auditId }: FinanceRequest,
  ): Promise<TopupRefund> {
    return inEntityTransaction(this.parts.source, async ({ client }) => {
      const before = await lockRefund(client, refundId);
      await refuseOwnInterest(client, actor, before.accountId);
      if (before.provider !== 'manual')
        throw new ApiError('conflict', `The outcome of this refund is reported by ${before.provider}.`);
      const failure = outcome === 'failed' ? note : null;
      const end = { refundId, providerRefundId: reference, outcome, failure };
      const refund = await endTopupRefund(client, end);
      if (refund.state !== outcome) throw new ApiError('conflict', `The refund has already ${refund.state}.`);
      if (before.state !== 'pending') return refund;
      await audit(client, {
        actor: `user:${actor.userId}`,
        action: `topup.refund.${outcome}`,
        subject: `refund:${refundId}`,
        accountId: refund.accountId,
        after: { reference, note },
        requestId: auditId,
      });
      return refund;
    });
  }

  private async begin(
    client: pg.ClientBase,
    { topupId, credits, reason }: RefundPayload & { reason: string },
    by: FinanceAuthor,
  ): Promise<TopupRefund> {
    const refund = await beginTopupRefund(client, {
      topupId,
      credits: credits === null ? null : parseAmount(credits),
      reason,
      actor: by.actor,
      requestId: by.requestId,
    });
    const { id: refundId, accountId, paidMinor } = refund;
    await audit(client, {
      actor: by.actor,
      action: 'topup.refund.begun',
      subject: `topup:${topupId}`,
      accountId,
      after: { refundId, credits: formatAmount(refund.credits), pay: viewPayment(paidMinor) },
      requestId: by.auditId,
    });
    return refund;
  }
}

async function takeRefund(
  client: pg.ClientBase,
  { topupId, accountId, amount }: { topupId: string; accountId: string; amount: bigint },
  { actor, approvedBy }: FinanceAuthor,
): Promise<boolean> {
  const { taken } = await takeOutflow(client, {
    kind: 'topup.refund',
    actor,
    approvedBy,
    amount,
    reference: `topup:${topupId}`,
    accountId,
  });
  return taken;
}

async function findTopup(
  client: pg.ClientBase,
  topupId: string,
): Promise<{ accountId: string; credits: Nanos }> {
  const { rows } = await client.query<{ accountId: string; credits: Nanos }>(
    'SELECT account_id AS "accountId", credits FROM topups WHERE id = $1',
    [topupId],
  );
  if (!rows[0]) throw new ApiError('not_found', 'There is no such top-up.');
  return rows[0];
}

async function lockRefund(client: pg.ClientBase, refundId: string): Promise<TopupRefund> {
  await client.query('SELECT FROM topup_refunds WHERE id = $1 FOR UPDATE', [refundId]);
  const refund = await findTopupRefund(client, refundId);
  if (!refund) throw new ApiError('not_found', 'There is no such refund.');
  return refund;
}
