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
} from '#payments/finance-credit.js';
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
      apply: async (client, { note, ...key }, context) =>
        this.bookWithin(client, await findLine(client, key), { note, by: approvedAuthor(context) }),
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
        return this.bookWithin(client, line, { note, by });
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
    { note, by }: { note: string; by: FinanceAuthor },
  ): Promise<Booked> {
    const event = eventOf(line);
    const before = await movedBy(client, line);
    const outcome = await this.parts.inbox.acceptWithin(client, event);
    if (outcome?.state === 'waiting')
      throw new ApiError('conflict', 'The payment of this dispute is not in the books: book it first.');
    const subject = `line:${line.provider}:${line.lineId}`;
    const moved = await movedBy(client, line);
    if (moved && moved.transactionId !== before?.transactionId)
      await takeMoved(client, moved, { by, subject });
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

interface Moved {
  /** The last posting that moved credits because of the dispute. */
  transactionId: bigint;
  credits: Nanos;
  accountId: string;
}

async function movedBy(
  client: pg.ClientBase,
  { provider, type, subjectId }: StoredLine,
): Promise<Moved | undefined> {
  if (type !== 'dispute' && type !== 'dispute_reversal') return undefined;
  const { rows } = await client.query<Moved>(
    `SELECT coalesce(reversal_transaction_id, transaction_id) AS "transactionId", credits, account_id AS "accountId"
     FROM disputes WHERE provider = $1 AND dispute_id = $2 AND transaction_id IS NOT NULL`,
    [provider, subjectId],
  );
  return rows[0];
}

/** @throws BookingNeedsTwo */
async function takeMoved(
  client: pg.ClientBase,
  { credits: amount, accountId }: Moved,
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
