import type pg from 'pg';
import { DataSource, type EntityManager, In, LessThan } from 'typeorm';
import type { z } from 'zod';
import { isDeepStrictEqual } from 'node:util';
import { type EntityTransaction, inEntityTransaction } from '#database/entity-transaction.js';
import { lockOne } from '#database/locks.js';
import { audit } from '#identity/audit-log.js';
import { withoutAddresses, withoutAddressesIn } from '#identity/redaction.js';
import { decideAlone } from '#identity/installation.js';
import { refuseOwnInterest } from '#identity/own-interest.js';
import { refuseOfFormer } from '#identity/staff.js';
import type { Actor, Role } from '#identity/role.js';
import { formatAmount, type Nanos } from '#money/amount.js';
import { ApiError } from '#platform/errors.js';
import { newId } from '#platform/ids.js';
import { Approval, type ApprovalState } from './approval.entity.js';

/** Who requested and who approved, for the records. */
export interface ApprovalContext {
  readonly approvalId: string;
  /** User ids. */
  readonly requestedBy: string;
  readonly decidedBy: string;
  /** As given in the request. */
  readonly requestId: string;
  readonly reason: string;
  /** In nanos, as the person who decided saw it. */
  readonly amount: bigint | null;
}

/** A type of decision that needs two people. A module registers what it can apply. */
export interface ApprovalKind<P> {
  /** Such as `topup.manual`. */
  readonly kind: string;
  /** Who may see and decide it. One of these roles is enough. */
  readonly roles: readonly Role[];
  /** The payload as stored: amounts are decimal strings. */
  readonly payload: z.ZodType<P>;
  /**
   * Runs once, in the approving transaction, with queries on its client only. The result is stored as JSON. An ApiError
   * refuses the approval and leaves it pending.
   */
  apply(client: pg.PoolClient, payload: P, context: ApprovalContext): Promise<unknown>;
  /** Runs after the commit, for what must not be in a transaction. */
  applied?(outcome: unknown): void;
}

export interface ApprovalRequest {
  kind: string;
  /** `kind:{id}`. */
  subject: string;
  accountId: string | null;
  /** Plain JSON. */
  payload: unknown;
  amount: Nanos | null;
  reason: string;
  actor: Pick<Actor, 'userId'>;
  /** The client's own id of the request. A repeat returns the same approval. */
  requestId: string;
}

/** What was done at once, or the approval that it waits for. */
export type Done<T> = { done: T; approvalId: null } | { done: null; approvalId: string };

export interface Decision {
  approvalId: string;
  actor: Actor;
  note: string | null;
  /** For the audit log. */
  requestId: string;
}

interface Filter {
  actor: Actor;
  state?: ApprovalState | undefined;
  limit: number;
  /** Only approvals older than this id. */
  beforeId: string | null;
}

const USED_ID = 'This requestId was already used for another request.';
const OTHER_VERSION =
  'Another version of the relay made this request. Reject it, and ask again if it is still needed.';
const INSERT = `INSERT INTO approvals (id, kind, subject, account_id, payload, amount, reason, requested_by, request_id)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (requested_by, kind, request_id) DO NOTHING`;

/** Second signatures: one person requests, another with one of the roles decides, and it is applied exactly once. */
export class ApprovalService {
  private readonly kinds = new Map<string, ApprovalKind<unknown>>();

  constructor(private readonly source: DataSource) {}

  register<P>(kind: ApprovalKind<P>): void {
    if (this.kinds.has(kind.kind)) throw new Error(`approval kind ${kind.kind} is registered twice`);
    this.kinds.set(kind.kind, kind);
  }

  /**
   * Records a request in the caller's transaction.
   * @throws ApiError conflict if the request id was used for something else
   */
  async request({ entities, client }: EntityTransaction, asked: ApprovalRequest): Promise<Approval> {
    const { kind, subject, accountId, amount, actor, requestId } = asked;
    // Requests are kept permanently, and name people by their ids.
    const [payload, reason] = [withoutAddressesIn(asked.payload), withoutAddresses(asked.reason)];
    this.kindOf(kind).payload.parse(payload);
    const key = { requestedBy: actor.userId, kind, requestId };
    const id = newId();
    const what = [id, kind, subject, accountId, JSON.stringify(payload), amount, reason];
    const { rowCount } = await client.query(INSERT, [...what, actor.userId, requestId]);
    const approval = await entities.findOneByOrFail(Approval, key);
    if (rowCount === 0) {
      const same = approval.subject === subject && isDeepStrictEqual(approval.payload, payload);
      if (same) return approval;
      throw new ApiError('conflict', USED_ID, { param: 'requestId' });
    }
    await audit(client, {
      actor: `user:${actor.userId}`,
      action: 'approval.requested',
      subject,
      accountId,
      after: { approvalId: id, kind, reason, ...(amount !== null && { amount: formatAmount(amount) }) },
      requestId,
    });
    return approval;
  }

  /**
   * Like `request`, but returns the approval that the same change is already waiting for, if there is one that could still be
   * approved.
   */
  async requestOnce(
    transaction: EntityTransaction,
    asked: ApprovalRequest,
    isOutdated: (approvalId: string) => Promise<boolean> = () => Promise.resolve(false),
  ): Promise<Approval> {
    const { kind } = asked;
    const payload = JSON.stringify(withoutAddressesIn(asked.payload));
    await lockOne(transaction.client, 'approval', kind, payload);
    const pending = transaction.entities
      .createQueryBuilder(Approval, 'approval')
      .where('kind = :kind AND state = :state AND payload = :payload::jsonb', {
        kind,
        state: 'pending',
        payload,
      })
      .orderBy('id', 'DESC')
      .limit(1);
    const found = await pending.getOne();
    return found && !(await isOutdated(found.id)) ? found : this.request(transaction, asked);
  }

  /** Does at once what one person may do, in the caller's transaction. Without `alone`, records a request. */
  async doOrAsk<T>(
    transaction: EntityTransaction,
    asked: ApprovalRequest,
    alone: (() => Promise<T>) | null,
  ): Promise<Done<T>> {
    if (alone !== null) return { done: await alone(), approvalId: null };
    return { done: null, approvalId: (await this.request(transaction, asked)).id };
  }

  /** The approvals that the actor may decide, newest first, one more than the limit if there are more. */
  list({ actor, state, limit, beforeId }: Filter): Promise<Approval[]> {
    const kinds = [...this.kinds.values()].filter((each) => mayDecide(actor, each)).map(({ kind }) => kind);
    return this.source.getRepository(Approval).find({
      where: {
        kind: In(kinds),
        ...(state ? { state } : {}),
        ...(beforeId === null ? {} : { id: LessThan(beforeId) }),
      },
      order: { id: 'DESC' },
      take: limit + 1,
    });
  }

  /** @throws ApiError if it does not exist, or is not for the actor's roles */
  async show(approvalId: string, actor: Actor): Promise<Approval> {
    return this.checked(await this.source.getRepository(Approval).findOneBy({ id: approvalId }), actor);
  }

  /**
   * Applies a request. The same decision by the same person again gives the same answer.
   * @throws ApiError not_found, forbidden, second_person_required; conflict if it has been decided, or the person who asked
   * has left the staff
   */
  async approve(decision: Decision): Promise<Approval> {
    const { approval, isNew } = await this.decide(decision, 'approved');
    if (isNew) this.kindOf(approval.kind).applied?.(approval.outcome);
    return approval;
  }

  async reject(decision: Decision): Promise<Approval> {
    return (await this.decide(decision, 'rejected')).approval;
  }

  private decide(
    decision: Decision,
    state: 'approved' | 'rejected',
  ): Promise<{ approval: Approval; isNew: boolean }> {
    return inEntityTransaction(this.source, async (transaction) => {
      const approval = await this.lock(transaction.entities, decision);
      if (approval.state !== 'pending') {
        if (approval.state === state && approval.decidedBy === decision.actor.userId)
          return { approval, isNew: false };
        throw new ApiError('conflict', `This has already been ${approval.state}.`);
      }
      await requireOther(transaction.client, approval, decision.actor);
      await refuseOwnInterest(transaction.client, decision.actor, approval.accountId);
      approval.outcome =
        state === 'approved' ? await this.apply(transaction.client, approval, decision) : null;
      await this.close(transaction.client, approval, { ...decision, state });
      return {
        approval: await transaction.entities.findOneByOrFail(Approval, { id: approval.id }),
        isNew: true,
      };
    });
  }

  private async lock(entities: EntityManager, { approvalId, actor }: Decision): Promise<Approval> {
    const approval = await entities.findOne(Approval, {
      where: { id: approvalId },
      lock: { mode: 'pessimistic_write' },
    });
    return this.checked(approval, actor);
  }

  private async apply(client: pg.PoolClient, approval: Approval, { actor }: Decision): Promise<unknown> {
    await refuseOfFormer(client, approval.requestedBy, 'Reject it, and ask again if it is still needed.');
    const kind = this.kindOf(approval.kind);
    const asked = kind.payload.safeParse(approval.payload);
    if (!asked.success) throw new ApiError('conflict', OTHER_VERSION);
    const outcome = await kind.apply(client, asked.data, {
      approvalId: approval.id,
      requestedBy: approval.requestedBy,
      decidedBy: actor.userId,
      requestId: approval.requestId,
      reason: approval.reason,
      amount: approval.amount,
    });
    return outcome ?? null;
  }

  private async close(
    client: pg.PoolClient,
    approval: Approval,
    { state, note, actor, requestId }: Decision & { state: 'approved' | 'rejected' },
  ): Promise<void> {
    const outcome = approval.outcome === null ? null : JSON.stringify(approval.outcome);
    await client.query(
      `UPDATE approvals SET state = $2, decided_by = $3, decision_note = $4, outcome = $5, decided_at = now()
       WHERE id = $1`,
      [approval.id, state, actor.userId, note && withoutAddresses(note), outcome],
    );
    await audit(client, {
      actor: `user:${actor.userId}`,
      action: `approval.${state}`,
      subject: approval.subject,
      accountId: approval.accountId,
      before: { approvalId: approval.id, requestedBy: approval.requestedBy },
      after: { kind: approval.kind, outcome: approval.outcome, note },
      requestId,
    });
  }

  private checked(approval: Approval | null, actor: Actor): Approval {
    if (!approval) throw new ApiError('not_found', 'There is no such approval.');
    const kind = this.kinds.get(approval.kind);
    if (!kind) throw new ApiError('conflict', 'This can only be decided in the console.');
    if (mayDecide(actor, kind)) return approval;
    throw new ApiError('forbidden', `This needs the role ${kind.roles.join(' or ')}.`);
  }

  private kindOf(kind: string): ApprovalKind<unknown> {
    const found = this.kinds.get(kind);
    if (!found) throw new Error(`nobody registered the approval kind ${kind}`);
    return found;
  }
}

/** In an installation with one person, that person confirms their own requests, and this is recorded. */
async function requireOther(client: pg.ClientBase, approval: Approval, { userId }: Actor): Promise<void> {
  const { requestedBy, accountId, id } = approval;
  if (requestedBy !== userId) return;
  const decision = {
    actor: `user:${userId}`,
    why: 'second-person',
    subject: `approval:${id}`,
    accountId,
  } as const;
  await decideAlone(client, decision, 'You requested this, so another person must decide.');
}

function mayDecide(actor: Actor, { roles }: ApprovalKind<unknown>): boolean {
  return roles.some((role) => actor.roles.includes(role));
}
