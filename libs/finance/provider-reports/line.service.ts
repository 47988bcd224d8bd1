import type pg from 'pg';
import { DataSource } from 'typeorm';
import { z } from 'zod';
import { inTransaction } from '#database/database.js';
import { type EntityTransaction, inEntityTransaction } from '#database/entity-transaction.js';
import { audit } from '#identity/audit-log.js';
import { refuseOwnInterest } from '#identity/own-interest.js';
import type { Actor } from '#identity/role.js';
import { nanos } from '#money/amount.js';
import { ApiError } from '#platform/errors.js';
import { ApprovalService } from '#approvals/approval.service.js';
import type { FinanceRequest } from '#payments/finance-credit.js';
import { PaymentInbox } from '#payments/payment.inbox.js';
import type { EventOutcome } from '#payments/payment.notices.js';
import type { PaymentEvent, PaymentFact } from '#payments/payment.provider.js';
import { AcceptanceNeedsTwo, acceptLine } from './line-acceptance.js';
import type { LineType, ReportingProvider } from './report-line.js';

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

export interface StoredLine {
  id: bigint;
  provider: ReportingProvider;
  lineId: string;
  type: LineType;
  amountMinor: bigint;
  feeMinor: bigint;
  netMinor: bigint;
  currency: string;
  happenedAt: Date;
  availableOn: string | null;
  subjectId: string;
  paymentId: string | null;
  payoutId: string | null;
  description: string;
  reportId: string;
  postings: { kind: string; transactionId: string }[];
  changes: { reportId: string; recordedAt: string; content: Record<string, unknown> }[];
  acceptances: { reason: string; requestedBy: string; approvedBy: string | null; recordedAt: string }[];
}

export interface LineServiceParts {
  readonly pool: pg.Pool;
  readonly inbox: Pick<PaymentInbox, 'currency' | 'accept'>;
  readonly source: DataSource;
  readonly approvals: ApprovalService;
}

/** Report lines, and what people do with those that our books lack. */
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
  async find(provider: ReportingProvider, lineId: string): Promise<StoredLine> {
    const { rows } = await this.parts.pool.query<StoredLine>(
      `SELECT l.id, l.provider, l.line_id AS "lineId", l.type, l.amount_minor AS "amountMinor", l.fee_minor AS "feeMinor",
         l.net_minor AS "netMinor", l.currency, l.happened_at AS "happenedAt", l.available_on::text AS "availableOn",
         l.subject_id AS "subjectId", l.payment_id AS "paymentId", p.payout_id AS "payoutId", l.description,
         l.report_id AS "reportId",
         (SELECT coalesce(json_agg(json_build_object('kind', x.kind, 'transactionId', x.transaction_id::text)
            ORDER BY x.transaction_id), '[]') FROM (
            SELECT kind, transaction_id FROM provider_line_postings WHERE line = l.id
            UNION ALL SELECT 'report-line-change', transaction_id FROM provider_line_corrections
              WHERE line = l.id AND transaction_id IS NOT NULL
            UNION ALL SELECT 'suspense', s.transaction_id FROM provider_line_corrections c
              JOIN suspense_items s ON s.id = c.suspense_item_id WHERE c.line = l.id) AS x) AS postings,
         (SELECT coalesce(json_agg(json_build_object('reportId', c.report_id, 'recordedAt', c.recorded_at, 'content', c.content)
            ORDER BY c.id), '[]') FROM provider_line_changes c WHERE c.line = l.id) AS changes,
         (SELECT coalesce(json_agg(json_build_object('reason', a.reason, 'requestedBy', a.requested_by, 'approvedBy',
            a.approved_by, 'recordedAt', a.recorded_at) ORDER BY a.id), '[]')
            FROM provider_line_acceptances a WHERE a.line = l.id) AS acceptances
       FROM provider_report_lines l LEFT JOIN provider_line_payouts p ON p.line = l.id
       WHERE l.provider = $1 AND l.line_id = $2`,
      [provider, lineId],
    );
    if (!rows[0]) throw new ApiError('not_found', 'There is no such line.');
    return rows[0];
  }

  /**
   * Books a missing line once, as if the provider had reported it when it happened. Known items stay as they are. @throws
   * ApiError not_found; conflict for a line that is posted automatically
   */
  async book(
    key: { provider: ReportingProvider; lineId: string },
    note: string,
    { actor, auditId }: FinanceRequest,
  ): Promise<EventOutcome> {
    const line = await this.find(key.provider, key.lineId);
    const { provider, lineId } = line;
    await inTransaction(this.parts.pool, async (client) =>
      refuseOwnInterest(client, actor, await payerOf(client, line)),
    );
    const outcome = await this.parts.inbox.accept(eventOf(line));
    await inTransaction(this.parts.pool, (client) =>
      audit(client, {
        actor: `user:${actor.userId}`,
        action: 'provider-line.booked',
        subject: `line:${provider}:${lineId}`,
        after: { note, state: outcome?.state ?? 'repeated' },
        requestId: auditId,
      }),
    );
    return outcome ?? { state: 'ignored', detail: 'The line was booked before.' };
  }

  /**
   * Accepts a line that a later report changed. Above the adjustment limit a second person must agree.
   * @throws ApiError not_found, conflict, second_person_required
   */
  async accept(
    key: { provider: ReportingProvider; lineId: string },
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

/** The account of the line's payment or refund, if our books know it. */
async function payerOf(
  client: pg.ClientBase,
  { provider, subjectId, paymentId }: StoredLine,
): Promise<string | null> {
  const { rows } = await client.query<{ accountId: string }>(
    `SELECT account_id AS "accountId" FROM topups WHERE provider = $1 AND payment_id IN ($2, $3)
     UNION ALL SELECT account_id FROM topup_orders WHERE provider = $1 AND payment_id IN ($2, $3)
     UNION ALL SELECT t.account_id FROM topup_refunds r JOIN topups t ON t.id = r.topup_id
       WHERE t.provider = $1 AND r.provider_refund_id = $2 LIMIT 1`,
    [provider, subjectId, paymentId],
  );
  return rows[0]?.accountId ?? null;
}

function eventOf(line: StoredLine): PaymentEvent {
  const { provider, lineId, type, happenedAt } = line;
  return {
    provider,
    eventId: `report-${lineId}`,
    type: `report.${type}`,
    fact: factOf(line),
    happenedAt: happenedAt.toISOString(),
  };
}

function factOf({ type, amountMinor, currency, subjectId, paymentId }: StoredLine): PaymentFact {
  const money = { amountMinor: amountMinor < 0n ? -amountMinor : amountMinor, currency };
  switch (type) {
    case 'payment':
      if (amountMinor <= 0n) break;
      return { kind: 'paid', orderId: null, paymentId: subjectId, amountMinor, currency };
    case 'refund': {
      const refund = { refundId: null, providerRefundId: subjectId, failure: null };
      return { kind: 'refund', state: 'succeeded', ...refund, ...money };
    }
    case 'dispute':
    case 'dispute_reversal': {
      if (paymentId === null) break;
      const state = type === 'dispute' ? 'open' : 'won';
      return { kind: 'dispute', disputeId: subjectId, paymentId, state, ...money };
    }
    default:
  }
  throw new ApiError(
    'conflict',
    'This line cannot be booked: it is posted automatically, or lacks information.',
  );
}
