import type pg from 'pg';
import { DataSource } from 'typeorm';
import { z } from 'zod';
import { type EntityTransaction, inEntityTransaction } from '#database/entity-transaction.js';
import { refuseOwnInterest } from '#identity/own-interest.js';
import type { Actor } from '#identity/role.js';
import { nanos } from '#money/amount.js';
import { ApprovalService } from '#approvals/approval.service.js';
import type { FinanceRequest } from '#payments/finance-credit.js';
import { PaymentInbox } from '#payments/payment.inbox.js';
import { AcceptanceNeedsTwo, acceptLine } from './line-acceptance.js';
import type { ReportingProvider } from './report-line.js';
import { findLine, type LineKey, payerOf, type StoredLine } from './stored-line.js';

const acceptancePayload = z.strictObject({
  provider: z.enum(['stripe', 'sandbox']),
  lineId: z.string(),
  through: z.string().regex(/^\d+$/),
  reason: z.string(),
});

/** The outcome of a request to accept a line: done, or waiting for a second person. */
export interface AcceptanceAnswer {
  state: 'done' | 'pending' | 'rejected';
  approvalId: string | null;
}

export interface LineServiceParts {
  readonly pool: pg.Pool;
  readonly inbox: Pick<PaymentInbox, 'currency'>;
  readonly source: DataSource;
  readonly approvals: ApprovalService;
}

/** Report lines, and the acceptance of those that a later report changed. */
export class LineService {
  constructor(private readonly parts: LineServiceParts) {
    parts.approvals.register({
      kind: 'provider-line.acceptance',
      roles: ['finance'],
      payload: acceptancePayload,
      apply: async (client, { through, ...wanted }, context) => {
        const { requestedBy, decidedBy, requestId, approvalId: auditId } = context;
        const people = { requestedBy: `user:${requestedBy}`, approvedBy: `user:${decidedBy}` };
        const { id } = await acceptLine(client, {
          ...wanted,
          ...people,
          requestId,
          auditId,
          through: BigInt(through),
          house: this.parts.inbox.currency,
        });
        return { id };
      },
    });
  }

  /** @throws ApiError not_found */
  find(provider: ReportingProvider, lineId: string): Promise<StoredLine> {
    return findLine(this.parts.pool, { provider, lineId });
  }

  /**
   * Accepts a line that a later report changed. Above the adjustment limit a second person must agree.
   * @throws ApiError not_found, conflict, second_person_required
   */
  async accept(
    key: LineKey,
    reason: string,
    { actor, requestId, auditId }: FinanceRequest,
  ): Promise<AcceptanceAnswer> {
    const people = { requestedBy: `user:${actor.userId}`, approvedBy: null };
    const line = await this.find(key.provider, key.lineId);
    return inEntityTransaction(this.parts.source, async (transaction) => {
      const accountId = await payerOf(transaction.client, line);
      await refuseOwnInterest(transaction.client, actor, accountId);
      try {
        const house = this.parts.inbox.currency;
        const wanted = { ...key, reason, requestId, auditId, through: null, house };
        await acceptLine(transaction.client, { ...wanted, ...people });
        return { state: 'done', approvalId: null };
      } catch (error) {
        if (!(error instanceof AcceptanceNeedsTwo)) throw error;
        return this.askSecond(transaction, { line, accountId, reason, actor, requestId }, error);
      }
    });
  }

  private async askSecond(
    transaction: EntityTransaction,
    asked: { line: StoredLine; accountId: string | null; reason: string; actor: Actor; requestId: string },
    { through, amount }: AcceptanceNeedsTwo,
  ): Promise<AcceptanceAnswer> {
    const { line, reason, ...rest } = asked;
    const { provider, lineId } = line;
    const { id, state } = await this.parts.approvals.request(transaction, {
      ...rest,
      kind: 'provider-line.acceptance',
      subject: `line:${provider}:${lineId}`,
      payload: { provider, lineId, through: through.toString(), reason },
      reason,
      amount: nanos(amount),
    });
    return { state: state === 'rejected' ? 'rejected' : 'pending', approvalId: id };
  }
}
