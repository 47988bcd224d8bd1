import type pg from 'pg';
import type { DataSource } from 'typeorm';
import { z } from 'zod';
import type { OutboxRelay } from '#bus/outbox.js';
import { type EntityTransaction, inEntityTransaction } from '#database/entity-transaction.js';
import { audit } from '#identity/audit-log.js';
import {
  type ChargeRefund,
  ChargeRefundRefused,
  type ChargeRefundRequest,
  chargeRefunds,
  findRefund,
  lockRefundable,
  refundCharge,
} from '#ledger/charges/charge-refund.js';
import { lockOutflows, takeOutflow } from '#ledger/postings/outflow.js';
import { formatAmount, type Nanos, nanos, parseAmount } from '#money/amount.js';
import { ApiError, invalidField } from '#platform/errors.js';
import type { ApprovalContext, ApprovalService } from '#approvals/approval.service.js';
import { noteDecision } from './ticket-decision.js';
import type { Speaker, TicketService } from './ticket.service.js';

export interface WantedRefund {
  ticketId: string;
  chargeId: string;
  amount: Nanos;
  reason: string;
  /** Chosen by the client. */
  requestId: string;
}

export interface ChargeRefundResult {
  state: 'refunded' | 'pending' | 'rejected';
  refund: ChargeRefund | null;
  approvalId: string | null;
}

export interface RefundsOfCharge {
  settled: Nanos;
  refundable: Nanos;
  items: ChargeRefund[];
}

const KIND = 'charge.refund';

/** What waits for a second person. */
const approvalPayload = z.strictObject({
  ticketId: z.string(),
  chargeId: z.string(),
  amount: z.string(),
});
type ApprovalPayload = z.infer<typeof approvalPayload>;

export interface ChargeRefundServiceParts {
  source: DataSource;
  pool: pg.Pool;
  tickets: TicketService;
  approvals: ApprovalService;
  relay: Pick<OutboxRelay, 'wake'>;
}

/** Refunds after settlement: from a ticket, with a reason, and by two people above a limit. */
export class ChargeRefundService {
  constructor(private readonly parts: ChargeRefundServiceParts) {
    parts.approvals.register<ApprovalPayload>({
      kind: KIND,
      roles: ['support', 'admin'],
      payload: approvalPayload,
      apply: (client, payload, context) => this.applyApproved(client, payload, context),
      applied: () => parts.relay.wake(),
    });
  }

  /** @throws ApiError if the charge belongs to another customer than the ticket, or the amount is too high */
  async refund(speaker: Speaker, wanted: WantedRefund): Promise<ChargeRefundResult> {
    const answer = await inEntityTransaction(this.parts.source, async (transaction) => {
      const { userId } = speaker.actor;
      const request = { ...wanted, requestedBy: userId, approvedBy: null };
      await lockOutflows(transaction.client, `user:${userId}`);
      const ticket = await this.parts.tickets.lock(transaction, speaker, wanted.ticketId);
      const made = await inApiWords(() => findRefund(transaction.client, request));
      if (made) return { state: 'refunded' as const, refund: made, approvalId: null };
      if (ticket.state === 'closed') throw new ApiError('conflict', 'The ticket is closed. Reopen it first.');
      await this.requireRefundable(transaction.client, wanted, ticket.accountId);
      if (!(await takeRefund(transaction.client, request, ticket.accountId)))
        return this.ask(transaction, speaker, { ...wanted, accountId: ticket.accountId });
      const refund = await give(transaction.client, request, speaker.requestId);
      return { state: 'refunded' as const, refund, approvalId: null };
    });
    this.parts.relay.wake();
    return answer;
  }

  /** @throws ApiError not_found */
  async ofCharge(chargeId: string): Promise<RefundsOfCharge> {
    const { rows } = await this.parts.pool.query<{ settled: bigint }>(
      'SELECT coalesce(settled, 0) AS settled FROM charges WHERE id = $1',
      [chargeId],
    );
    if (!rows[0]) throw new ApiError('not_found', 'There is no such charge.');
    const items = await chargeRefunds(this.parts.pool, chargeId);
    const refunded = items.reduce((sum, { amount }) => sum + amount, 0n);
    return { settled: nanos(rows[0].settled), refundable: nanos(rows[0].settled - refunded), items };
  }

  private async requireRefundable(
    client: pg.PoolClient,
    wanted: WantedRefund,
    accountId: string,
  ): Promise<void> {
    const charge = await inApiWords(() => lockRefundable(client, wanted.chargeId));
    if (charge.accountId !== accountId) {
      throw invalidField('chargeId', 'the charge belongs to another account than the ticket.');
    }
    if (wanted.amount > charge.rest) {
      throw new ApiError(
        'conflict',
        `Only ${formatAmount(charge.rest)} credits of this charge can still be refunded.`,
      );
    }
  }

  private async ask(
    transaction: EntityTransaction,
    { actor }: Speaker,
    wanted: WantedRefund & { accountId: string },
  ): Promise<ChargeRefundResult> {
    const { accountId, ticketId, chargeId, amount, reason, requestId } = wanted;
    const approval = await this.parts.approvals.request(transaction, {
      kind: KIND,
      subject: `charge:${chargeId}`,
      accountId,
      payload: { ticketId, chargeId, amount: formatAmount(amount) } satisfies ApprovalPayload,
      amount,
      reason,
      actor,
      requestId,
    });
    return {
      state: approval.state === 'rejected' ? 'rejected' : 'pending',
      refund: null,
      approvalId: approval.id,
    };
  }

  private async applyApproved(
    client: pg.PoolClient,
    { ticketId, chargeId, amount }: ApprovalPayload,
    context: ApprovalContext,
  ): Promise<unknown> {
    // Locks the ticket before the charge, as in the request.
    await client.query('SELECT FROM tickets WHERE id = $1 FOR NO KEY UPDATE', [ticketId]);
    const { requestedBy, decidedBy: approvedBy, requestId, reason } = context;
    const request = {
      ticketId,
      chargeId,
      amount: parseAmount(amount),
      reason,
      requestedBy,
      approvedBy,
      requestId,
    };
    const refund = await give(client, request, requestId);
    await takeRefund(client, request, refund.accountId);
    return { refundId: refund.refundId, seq: refund.seq };
  }
}

async function takeRefund(
  client: pg.PoolClient,
  { chargeId, amount, requestedBy, approvedBy }: ChargeRefundRequest,
  accountId: string,
): Promise<boolean> {
  const { taken } = await takeOutflow(client, {
    kind: 'charge.refund',
    actor: `user:${requestedBy}`,
    approvedBy: approvedBy && `user:${approvedBy}`,
    amount,
    reference: `charge:${chargeId}`,
    accountId,
  });
  return taken;
}

async function give(
  client: pg.PoolClient,
  request: ChargeRefundRequest,
  requestId: string,
): Promise<ChargeRefund> {
  const refund = await inApiWords(() => refundCharge(client, request));
  const { chargeId, amount, reason, ticketId, requestedBy, approvedBy, accountId, refundId } = refund;
  const credits = formatAmount(nanos(amount));
  const authorId = approvedBy ?? requestedBy;
  const event = `Refunded ${credits} credits of charge ${chargeId}: ${reason}`;
  await noteDecision(client, { ticketId, authorId, outcome: 'refunded', event });
  await audit(client, {
    actor: `user:${authorId}`,
    action: 'charge.refunded',
    subject: `charge:${chargeId}`,
    accountId,
    after: { refundId, amount: credits, reason, ticketId, requestedBy, approvedBy },
    requestId,
  });
  return refund;
}

const WORDS = {
  unknown_charge: { code: 'invalid_value', param: 'chargeId' },
  not_settled: { code: 'conflict', param: 'chargeId' },
  beyond_settled: { code: 'conflict', param: 'amount' },
  deleted: { code: 'conflict', param: null },
  conflict: { code: 'conflict', param: 'requestId' },
} as const;

async function inApiWords<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ChargeRefundRefused)) throw error;
    const { code, param } = WORDS[error.code];
    throw new ApiError(code, error.message, { param });
  }
}
