import type pg from 'pg';
import type { DataSource } from 'typeorm';
import type { z } from 'zod';
import { type EntityTransaction, inEntityTransaction } from '#database/entity-transaction.js';
import { refuseOwnInterest } from '#identity/own-interest.js';
import type { Actor } from '#identity/role.js';
import { type Adjustment, readAdjustment } from '#ledger/postings/adjustment.js';
import { readWriteOff, type WriteOff } from '#ledger/postings/write-off.js';
import { formatAmount, nanos, parseAmount } from '#money/amount.js';
import type { FinanceRequest } from '#payments/finance-credit.js';
import { ApiError } from '#platform/errors.js';
import type { ApprovalContext, ApprovalService, ApprovalKind } from '#approvals/approval.service.js';
import {
  adjustmentPayload,
  doAdjust,
  type Signatures,
  doReverse,
  doReverseWriteOff,
  doWriteOff,
  parseSigned,
  reversalPayload,
  viewSigned,
  type WantedAdjustment,
  type WantedWriteOff,
  writeOffPayload,
  writeOffReversalPayload,
} from './correction.js';
import { inApiWords, needsSecondPerson } from './correction-errors.js';

export interface AdjustmentResult<T> {
  state: 'done' | 'pending' | 'rejected';
  done: T | null;
  approvalId: string | null;
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
      this.kind('adjustment', adjustmentPayload, (client, { amount, ...wanted }, signatures) =>
        doAdjust(client, { ...wanted, amount: parseSigned(amount) }, signatures),
      ),
    );
    approvals.register(this.kind('adjustment.reversal', reversalPayload, doReverse));
    approvals.register(this.kind('write-off.reversal', writeOffReversalPayload, doReverseWriteOff));
    approvals.register(
      this.kind('write-off', writeOffPayload, (client, { amount, ...wanted }, signatures) =>
        doWriteOff(client, { ...wanted, amount: amount === null ? null : parseAmount(amount) }, signatures),
      ),
    );
  }

  /** @throws ApiError */
  adjust(wanted: WantedAdjustment, asking: FinanceRequest): Promise<AdjustmentResult<Adjustment>> {
    const { accountId, amount, note } = wanted;
    return this.doOrAsk(asking, accountId, {
      work: (client, signatures) => doAdjust(client, wanted, signatures),
      ask: {
        kind: 'adjustment',
        subject: `account:${accountId}`,
        reason: note,
        payload: { ...wanted, amount: viewSigned(amount) },
        amount,
      },
    });
  }

  /** @throws ApiError */
  reverse(adjustmentId: string, note: string, asking: FinanceRequest): Promise<AdjustmentResult<Adjustment>> {
    return this.undo(asking, {
      name: 'adjustment',
      id: adjustmentId,
      read: readAdjustment,
      payload: { adjustmentId, note },
      work: doReverse,
    });
  }

  /** @throws ApiError */
  writeOff(wanted: WantedWriteOff, asking: FinanceRequest): Promise<AdjustmentResult<WriteOff>> {
    const { accountId, amount, note } = wanted;
    return this.doOrAsk(asking, accountId, {
      work: (client, signatures) => doWriteOff(client, wanted, signatures),
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
  reverseWriteOff(
    writeOffId: string,
    note: string,
    asking: FinanceRequest,
  ): Promise<AdjustmentResult<WriteOff>> {
    return this.undo(asking, {
      name: 'write-off',
      id: writeOffId,
      read: readWriteOff,
      payload: { writeOffId, note },
      work: doReverseWriteOff,
    });
  }

  private async undo<P extends { note: string }, T extends { accountId: string; amount: bigint }>(
    asking: FinanceRequest,
    { name, id, read, payload, work }: Reversal<P, T>,
  ): Promise<AdjustmentResult<T>> {
    const original = await inEntityTransaction(this.parts.source, ({ client }) => read(client, id));
    if (!original) throw new ApiError('not_found', `There is no such ${name}.`);
    return this.doOrAsk(asking, original.accountId, {
      work: (client, signatures) => work(client, payload, signatures),
      ask: {
        kind: `${name}.reversal`,
        subject: `${name}:${id}`,
        reason: payload.note,
        payload,
        amount: original.amount,
      },
    });
  }

  private async doOrAsk<T>(
    asking: FinanceRequest,
    accountId: string,
    wanted: { work: (client: pg.PoolClient, signatures: Signatures) => Promise<T>; ask: Asked },
  ): Promise<AdjustmentResult<T>> {
    const { actor, requestId, auditId } = asking;
    return inEntityTransaction(this.parts.source, async (transaction) => {
      const signatures = { requestedBy: `user:${actor.userId}`, approvedBy: null, requestId, auditId };
      await refuseOwnInterest(transaction.client, actor, accountId);
      try {
        return { state: 'done', done: await wanted.work(transaction.client, signatures), approvalId: null };
      } catch (error) {
        if (!needsSecondPerson(error)) throw inApiWords(error);
        return this.ask(transaction, { ...wanted.ask, accountId, actor, requestId });
      }
    });
  }

  private async ask<T>(
    transaction: EntityTransaction,
    asked: Asked & { accountId: string; actor: Actor; requestId: string },
  ): Promise<AdjustmentResult<T>> {
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
    work: (client: pg.PoolClient, payload: P, signatures: Signatures) => Promise<{ id: string }>,
  ): ApprovalKind<P> {
    const apply = async (client: pg.PoolClient, wanted: P, context: ApprovalContext): Promise<unknown> => {
      const { requestedBy, decidedBy, requestId, approvalId: auditId, amount } = context;
      const signatures = {
        atMost: amount ?? undefined,
        requestedBy: `user:${requestedBy}`,
        approvedBy: `user:${decidedBy}`,
        requestId,
        auditId,
      };
      try {
        return { id: (await work(client, wanted, signatures)).id };
      } catch (error) {
        throw inApiWords(error);
      }
    };
    return { kind, roles: ['finance'], payload, apply };
  }
}

interface Reversal<P, T> {
  name: 'adjustment' | 'write-off';
  id: string;
  read: (client: pg.PoolClient, id: string) => Promise<T | null>;
  payload: P;
  work: (client: pg.PoolClient, payload: P, signatures: Signatures) => Promise<T>;
}

interface Asked {
  kind: string;
  subject: string;
  payload: unknown;
  amount: bigint | null;
  reason: string;
}

async function debtOf(client: pg.PoolClient, accountId: string): Promise<bigint> {
  const { rows } = await client.query<{ main: string }>(
    'SELECT main::text FROM customer_balances WHERE account_id = $1',
    [accountId],
  );
  return BigInt(rows[0]?.main ?? 0);
}
