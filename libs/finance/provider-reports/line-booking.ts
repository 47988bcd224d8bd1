import type pg from 'pg';
import type { DataSource } from 'typeorm';
import { z } from 'zod';
import { inEntityTransaction } from '#database/entity-transaction.js';
import { audit } from '#identity/audit-log.js';
import { refuseOwnInterest } from '#identity/own-interest.js';
import { lockOutflows, takeOutflow } from '#ledger/postings/outflow.js';
import type { Nanos } from '#money/amount.js';
import { ApiError, NamedError } from '#platform/errors.js';
import { ApprovalService } from '#approvals/approval.service.js';
import {
  approvedAuthor,
  type FinanceAuthor,
  type FinanceRequest,
  requestAuthor,
  requireSeen,
} from '#payments/finance-credit.js';
import { lockPayment } from '#payments/facts/reported-fact.js';
import { PaymentInbox } from '#payments/payment.inbox.js';
import type { EventOutcome } from '#payments/payment.notices.js';
import type { PaymentEvent, PaymentFact } from '#payments/payment.provider.js';
import { findLine, payerOf, type LineKey, type StoredLine } from './stored-line.js';

const payload = z.strictObject({
  provider: z.enum(['stripe', 'sandbox']),
  lineId: z.string(),
  note: z.string(),
});

export interface LineBookingsParts {
  readonly source: DataSource;
  readonly approvals: ApprovalService;
  readonly inbox: Pick<PaymentInbox, 'acceptWithin' | 'announce'>;
}

/** What became of a line, or the approval that it waits for. */
export interface BookingAnswer {
  state: Exclude<EventOutcome['state'], 'waiting'> | 'pending';
  detail: string;
  approvalId: string | null;
}

/** As JSON, because an approval stores it. */
interface Booked {
  event: Pick<PaymentEvent, 'provider' | 'eventId' | 'type'>;
  outcome: EventOutcome | null;
}

/** The dispute moves more credits than one person may move alone. Nothing was written. */
class BookingNeedsTwo extends NamedError {
  constructor(readonly credits: Nanos) {
    super('The dispute is above what one person may book alone.');
  }
}

/**
 * Booking of lines that our books miss, as if the provider had reported them when they happened. A report may be a file that a
 * person brought, so the credits that a dispute moves count toward the daily limit of adjustments.
 */
export class LineBookings {
  constructor(private readonly parts: LineBookingsParts) {
    parts.approvals.register({
      kind: 'provider-line.booking',
      roles: ['finance'],
      payload,
      apply: async (client, { note, ...key }, context) => {
        const by = approvedAuthor(context);
        return this.bookWithin(client, await findLine(client, key), { note, by, seen: context.amount });
      },
      applied: (booked) => this.announce(booked as Booked),
    });
  }

  /**
   * Books a missing line once. Known items stay as they are.
   * @throws ApiError not_found; conflict for a line that is posted automatically, or a dispute of an unknown payment
   */
  async book(key: LineKey, note: string, asking: FinanceRequest): Promise<BookingAnswer> {
    const by = requestAuthor(asking);
    try {
      const booked = await inEntityTransaction(this.parts.source, async ({ client }) => {
        await lockOutflows(client, by.actor);
        const line = await findLine(client, key);
        await refuseOwnInterest(client, asking.actor, await payerOf(client, line));
        return this.bookWithin(client, line, { note, by, seen: null });
      });
      this.announce(booked);
      const { state, detail } = booked.outcome ?? { state: 'ignored', detail: 'The line was booked before.' };
      return { state: state as BookingAnswer['state'], detail, approvalId: null };
    } catch (error) {
      if (!(error instanceof BookingNeedsTwo)) throw error;
      return this.askSecond({ ...key, note }, error.credits, asking);
    }
  }

  private announce({ event, outcome }: Booked): void {
    this.parts.inbox.announce(event, outcome);
  }

  private async bookWithin(
    client: pg.PoolClient,
    line: StoredLine,
    { note, by, seen }: { note: string; by: FinanceAuthor; seen: bigint | null },
  ): Promise<Booked> {
    const event = eventOf(line);
    // The provider's own event of it waits, so that what it moves does not count as moved here.
    if (line.paymentId !== null) await lockPayment(client, line.provider, line.paymentId);
    const before = await findDispute(client, line);
    if (before && before.paymentId !== line.paymentId)
      throw new ApiError(
        'conflict',
        'Our books know this dispute as one of another payment: ask the provider.',
      );
    const outcome = await this.parts.inbox.acceptWithin(client, event);
    if (outcome?.state === 'waiting')
      throw new ApiError('conflict', WAITS[event.fact.kind === 'refund' ? 'refund' : 'dispute']);
    const subject = `line:${line.provider}:${line.lineId}`;
    const after = await findDispute(client, line);
    if (after && after.transactionId !== (before?.transactionId ?? null)) {
      // A refund may have failed since, or another dispute of the payment been won.
      requireSeen(after.credits, seen);
      await takeMoved(client, after, { by, subject });
    }
    await audit(client, {
      actor: by.approvedBy ?? by.actor,
      action: 'provider-line.booked',
      subject,
      after: { note, state: outcome?.state ?? 'repeated' },
      requestId: by.auditId,
    });
    const { provider, eventId, type } = event;
    return { event: { provider, eventId, type }, outcome };
  }

  private askSecond(
    { provider, lineId, note }: z.infer<typeof payload>,
    amount: Nanos,
    { actor, requestId }: FinanceRequest,
  ): Promise<BookingAnswer> {
    return inEntityTransaction(this.parts.source, async (transaction) => {
      const accountId = await payerOf(
        transaction.client,
        await findLine(transaction.client, { provider, lineId }),
      );
      const { id } = await this.parts.approvals.requestOnce(transaction, {
        kind: 'provider-line.booking',
        subject: `line:${provider}:${lineId}`,
        payload: { provider, lineId, note },
        reason: note,
        accountId,
        actor,
        requestId,
        amount,
      });
      return { state: 'pending', detail: 'A second person must approve it first.', approvalId: id };
    });
  }
}

const WAITS = {
  dispute: 'The payment of this dispute is not in the books: book it first.',
  refund: 'This may be one of our pending refunds: try again once the provider has answered.',
};

interface KnownDispute {
  paymentId: string;
  /** The last posting that moved credits because of it. */
  transactionId: bigint | null;
  credits: Nanos;
  accountId: string;
}

/** Null for a line that is not about a dispute, or a dispute that our books do not know. */
async function findDispute(
  client: pg.ClientBase,
  { provider, type, subjectId }: StoredLine,
): Promise<KnownDispute | null> {
  if (type !== 'dispute' && type !== 'dispute_reversal') return null;
  const { rows } = await client.query<KnownDispute>(
    `SELECT t.payment_id AS "paymentId", coalesce(d.reversal_transaction_id, d.transaction_id) AS "transactionId",
       d.credits, d.account_id AS "accountId"
     FROM disputes d JOIN topups t ON t.id = d.topup_id WHERE d.provider = $1 AND d.dispute_id = $2`,
    [provider, subjectId],
  );
  return rows[0] ?? null;
}

/** @throws BookingNeedsTwo */
async function takeMoved(
  client: pg.ClientBase,
  { credits: amount, accountId }: KnownDispute,
  { by: { actor, approvedBy }, subject: reference }: { by: FinanceAuthor; subject: string },
): Promise<void> {
  const outflow = { actor, approvedBy, amount, reference, accountId } as const;
  const { taken } = await takeOutflow(client, { ...outflow, kind: 'provider-line.booking' });
  if (!taken) throw new BookingNeedsTwo(amount);
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
      const refund = { refundId: null, providerRefundId: subjectId, paymentId, failure: null };
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
