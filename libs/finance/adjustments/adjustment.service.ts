import type pg from 'pg';
import type { DataSource } from 'typeorm';
import { z } from 'zod';
import { type EntityTransaction, inEntityTransaction } from '#database/entity-transaction.js';
import { audit } from '#identity/audit-log.js';
import type { Actor } from '#identity/role.js';
import {
  adjust,
  type Adjustment,
  type AdjustmentReason,
  adjustmentReasons,
  AdjustmentRefused,
  readAdjustment,
  reverseAdjustment,
} from '#ledger/postings/adjustment.js';
import { refuseOwnInterest } from '#identity/own-interest.js';
import { UnknownAccount } from '#ledger/postings/posting.js';
import {
  readWriteOff,
  reverseWriteOff,
  writeOff,
  type WriteOff,
  WriteOffRefused,
} from '#ledger/postings/write-off.js';
import { formatAmount, nanos, parseAmount } from '#money/amount.js';
import { ApiError } from '#platform/errors.js';
import type { ApprovalContext, ApprovalService, ApprovalKind } from '#approvals/approval.service.js';

export interface Asking {
  actor: Actor;
  /** Chosen by the client. */
  requestId: string;
  /** Of the HTTP request, for the audit log. */
  auditId: string;
}

export interface Answer<T> {
  state: 'done' | 'pending' | 'rejected';
  done: T | null;
  approvalId: string | null;
}

export interface WantedAdjustment {
  accountId: string;
  ticketId: string;
  /** Nanos, not 0; positive is for the customer. */
  amount: bigint;
  reason: AdjustmentReason;
  note: string;
}

export interface WantedWriteOff {
  accountId: string;
  ticketId: string;
  /** Null: the whole debt. */
  amount: bigint | null;
  note: string;
}

const adjustmentPayload = z.strictObject({
  accountId: z.string(),
  ticketId: z.string(),
  amount: z.string(),
  reason: z.enum(adjustmentReasons),
  note: z.string(),
});
const reversalPayload = z.strictObject({ adjustmentId: z.string(), note: z.string() });
const writeOffReversalPayload = z.strictObject({ writeOffId: z.string(), note: z.string() });
const writeOffPayload = z.strictObject({
  accountId: z.string(),
  ticketId: z.string(),
  amount: z.string().nullable(),
  note: z.string(),
});

export interface Doers {
  requestedBy: string;
  approvedBy: string | null;
  requestId: string;
  auditId: string;
}

export interface AdjustmentServiceParts {
  source: DataSource;
  approvals: ApprovalService;
}

/** Adjustments, write-offs and their reversals: from a ticket, by two people above a limit. */
export class AdjustmentService {
  constructor(private readonly parts: AdjustmentServiceParts) {
    const { approvals } = parts;
    approvals.register(
      this.kind('adjustment', adjustmentPayload, (client, { amount, ...wanted }, doers) =>
        doAdjust(client, { ...wanted, amount: parseSigned(amount) }, doers),
      ),
    );
    approvals.register(this.kind('adjustment.reversal', reversalPayload, doReverse));
    approvals.register(this.kind('write-off.reversal', writeOffReversalPayload, doReverseWriteOff));
    approvals.register(
      this.kind('write-off', writeOffPayload, (client, { amount, ...wanted }, doers) =>
        doWriteOff(client, { ...wanted, amount: amount === null ? null : parseAmount(amount) }, doers),
      ),
    );
  }

  /** @throws ApiError */
  adjust(wanted: WantedAdjustment, asking: Asking): Promise<Answer<Adjustment>> {
    const { accountId, ticketId, amount, note } = wanted;
    return this.doOrAsk(asking, accountId, {
      work: (client, doers) => doAdjust(client, wanted, doers),
      ask: {
        kind: 'adjustment',
        subject: `account:${accountId}`,
        reason: note,
        payload: { ...wanted, ticketId, amount: viewSigned(amount) },
        amount,
      },
    });
  }

  /** @throws ApiError */
  async reverse(adjustmentId: string, note: string, asking: Asking): Promise<Answer<Adjustment>> {
    const original = await inEntityTransaction(this.parts.source, ({ client }) =>
      readAdjustment(client, adjustmentId),
    );
    if (!original) throw new ApiError('not_found', 'There is no such adjustment.');
    return this.doOrAsk(asking, original.accountId, {
      work: (client, doers) => doReverse(client, { adjustmentId, note }, doers),
      ask: {
        kind: 'adjustment.reversal',
        subject: `adjustment:${adjustmentId}`,
        reason: note,
        payload: { adjustmentId, note },
        amount: original.amount,
      },
    });
  }

  /** @throws ApiError */
  writeOff(wanted: WantedWriteOff, asking: Asking): Promise<Answer<WriteOff>> {
    const { accountId, amount, note } = wanted;
    return this.doOrAsk(asking, accountId, {
      work: (client, doers) => doWriteOff(client, wanted, doers),
      ask: {
        kind: 'write-off',
        subject: `account:${accountId}`,
        reason: note,
        payload: { ...wanted, amount: amount === null ? null : formatAmount(nanos(amount)) },
        amount,
      },
    });
  }

  /** @throws ApiError */
  async reverseWriteOff(writeOffId: string, note: string, asking: Asking): Promise<Answer<WriteOff>> {
    const original = await inEntityTransaction(this.parts.source, ({ client }) =>
      readWriteOff(client, writeOffId),
    );
    if (!original) throw new ApiError('not_found', 'There is no such write-off.');
    return this.doOrAsk(asking, original.accountId, {
      work: (client, doers) => doReverseWriteOff(client, { writeOffId, note }, doers),
      ask: {
        kind: 'write-off.reversal',
        subject: `write-off:${writeOffId}`,
        reason: note,
        payload: { writeOffId, note },
        amount: original.amount,
      },
    });
  }

  private async doOrAsk<T>(
    asking: Asking,
    accountId: string,
    wanted: { work: (client: pg.PoolClient, doers: Doers) => Promise<T>; ask: Asked },
  ): Promise<Answer<T>> {
    const { actor, requestId, auditId } = asking;
    return inEntityTransaction(this.parts.source, async (transaction) => {
      const doers = { requestedBy: `user:${actor.userId}`, approvedBy: null, requestId, auditId };
      await refuseOwnInterest(transaction.client, actor, accountId);
      try {
        return { state: 'done', done: await wanted.work(transaction.client, doers), approvalId: null };
      } catch (error) {
        if (!needsSecondPerson(error)) throw inApiWords(error);
        return this.ask(transaction, { ...wanted.ask, accountId, actor, requestId });
      }
    });
  }

  private async ask<T>(
    transaction: EntityTransaction,
    asked: Asked & { accountId: string; actor: Actor; requestId: string },
  ): Promise<Answer<T>> {
    const amount = asked.amount === null ? await debtOf(transaction.client, asked.accountId) : asked.amount;
    const approval = await this.parts.approvals.request(transaction, {
      ...asked,
      amount: nanos(amount < 0n ? -amount : amount),
    });
    const state = approval.state === 'rejected' ? 'rejected' : 'pending';
    return { state, done: null, approvalId: approval.id };
  }

  private kind<P>(
    kind: string,
    payload: z.ZodType<P>,
    work: (client: pg.PoolClient, payload: P, doers: Doers) => Promise<{ id: string }>,
  ): ApprovalKind<P> {
    const apply = async (client: pg.PoolClient, wanted: P, context: ApprovalContext): Promise<unknown> => {
      const { requestedBy, decidedBy, requestId, approvalId: auditId } = context;
      const doers = {
        requestedBy: `user:${requestedBy}`,
        approvedBy: `user:${decidedBy}`,
        requestId,
        auditId,
      };
      try {
        return { id: (await work(client, wanted, doers)).id };
      } catch (error) {
        throw inApiWords(error);
      }
    };
    return { kind, roles: ['finance'], payload, apply };
  }
}

interface Asked {
  kind: string;
  subject: string;
  payload: unknown;
  amount: bigint | null;
  reason: string;
}

/** In the caller's transaction, with its note in the audit log. @throws AdjustmentRefused */
async function doAdjust(client: pg.PoolClient, wanted: WantedAdjustment, doers: Doers): Promise<Adjustment> {
  const adjustment = await adjust(client, { ...wanted, ...signatures(doers) });
  await note(client, 'account.adjusted', adjustment, doers);
  return adjustment;
}

/** @throws AdjustmentRefused */
async function doReverse(
  client: pg.PoolClient,
  wanted: z.infer<typeof reversalPayload>,
  doers: Doers,
): Promise<Adjustment> {
  const reversal = await reverseAdjustment(client, { ...wanted, ...signatures(doers) });
  await note(client, 'adjustment.reversed', reversal, doers);
  return reversal;
}

/** @throws WriteOffRefused */
async function doWriteOff(client: pg.PoolClient, wanted: WantedWriteOff, doers: Doers): Promise<WriteOff> {
  const written = await writeOff(client, { ...wanted, ...signatures(doers) });
  await note(client, 'debt.written_off', written, doers);
  return written;
}

/** @throws WriteOffRefused */
async function doReverseWriteOff(
  client: pg.PoolClient,
  wanted: z.infer<typeof writeOffReversalPayload>,
  doers: Doers,
): Promise<WriteOff> {
  const reversal = await reverseWriteOff(client, { ...wanted, ...signatures(doers) });
  await note(client, 'debt.write_off_reversed', reversal, doers);
  return reversal;
}

function signatures({ requestedBy, approvedBy, requestId }: Doers): Omit<Doers, 'auditId'> {
  return { requestedBy, approvedBy, requestId };
}

/** Once: a repeat of the request did nothing. */
async function note(
  client: pg.PoolClient,
  action: string,
  made: Adjustment | WriteOff,
  { auditId }: Doers,
): Promise<void> {
  const { id, accountId, ticketId, amount, requestedBy, approvedBy, reversesId } = made;
  const { rowCount } = await client.query(
    `SELECT FROM audit_log WHERE subject = $1 AND action = $2 AND after ->> 'id' = $3`,
    [`account:${accountId}`, action, id],
  );
  if (rowCount !== 0) return;
  await audit(client, {
    actor: approvedBy ?? requestedBy,
    action,
    subject: `account:${accountId}`,
    accountId,
    after: { id, amount: viewSigned(amount), note: made.note, ticketId, requestedBy, approvedBy, reversesId },
    requestId: auditId,
  });
}

async function debtOf(client: pg.PoolClient, accountId: string): Promise<bigint> {
  const { rows } = await client.query<{ main: string }>(
    'SELECT main::text FROM customer_balances WHERE account_id = $1',
    [accountId],
  );
  return BigInt(rows[0]?.main ?? 0);
}

function needsSecondPerson(error: unknown): boolean {
  return (
    (error instanceof AdjustmentRefused || error instanceof WriteOffRefused) && error.code === 'second_person'
  );
}

const PARAMS = {
  unknown_ticket: 'ticketId',
  unknown_adjustment: 'adjustmentId',
  beyond_balance: 'amount',
  beyond_debt: 'amount',
  no_debt: 'accountId',
  once_a_month: 'accountId',
  second_person: null,
  unknown_write_off: 'writeOffId',
  reversed: null,
  conflict: 'requestId',
} as const;

function inApiWords(error: unknown): unknown {
  if (error instanceof UnknownAccount) {
    return new ApiError('invalid_value', `accountId: ${error.message}`, { param: 'accountId' });
  }
  if (!(error instanceof AdjustmentRefused || error instanceof WriteOffRefused)) return error;
  const { code, message } = error;
  const param = PARAMS[code];
  if (code === 'unknown_ticket') return new ApiError('invalid_value', `ticketId: ${message}`, { param });
  return new ApiError(code === 'unknown_adjustment' ? 'not_found' : 'conflict', message, { param });
}

/** A decimal string that may be below 0, in nanos. */
export function parseSigned(text: string): bigint {
  return text.startsWith('-') ? -parseAmount(text.slice(1)) : parseAmount(text);
}

function viewSigned(amount: bigint): string {
  return formatAmount(nanos(amount));
}
