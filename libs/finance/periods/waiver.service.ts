import type pg from 'pg';
import type { DataSource } from 'typeorm';
import { z } from 'zod';
import { inEntityTransaction } from '#database/entity-transaction.js';
import type { Actor } from '#identity/role.js';
import { ApiError, invalidField } from '#platform/errors.js';
import type { ApprovalContext, ApprovalService } from '#approvals/approval.service.js';
import type { Approval } from '#approvals/approval.entity.js';
import { findingsToWaive } from './period-check.js';
import { waivableItems } from './period-checklist.js';
import { recordWaiver, type Waiver, type WaiverRequest, waiversOf } from './waiver.js';

const payload = z.strictObject({
  end: z.string(),
  item: z.string(),
  count: z.int().positive(),
  findings: z.array(z.string()).nullable().default(null),
  reason: z.string(),
});

export interface WaiverServiceParts {
  source: DataSource;
  pool: pg.Pool;
  approvals: ApprovalService;
  /** The time limit for checking what is to be waived. */
  limitMs: number;
}

/** Waivers of checklist items: one person gives a reason, another one agrees. Nobody can waive alone. */
export class WaiverService {
  constructor(private readonly parts: WaiverServiceParts) {
    parts.approvals.register({
      kind: 'period.waiver',
      roles: ['finance'],
      payload,
      apply: (client, wanted, context) => this.apply(client, wanted, context),
    });
  }

  /**
   * Requests a waiver for what the item finds right now, given the count that the person has seen.
   * @throws ApiError for an item that cannot be waived or counts more by now, or if the period is closed
   */
  async ask(
    wanted: Omit<WaiverRequest, 'requestedBy' | 'findings'>,
    { actor, requestId }: { actor: Actor; requestId: string },
  ): Promise<Approval> {
    const { item, count, reason } = wanted;
    requireWaivable(item);
    const { pool, limitMs } = this.parts;
    const found = await findingsToWaive(pool, item, { end: wanted.end, limitMs });
    if (found.count > count) throw countedMore(item, found.count);
    const end = wanted.end.toISOString();
    return inEntityTransaction(this.parts.source, async (transaction) => {
      await requireOpen(transaction.client, wanted.end);
      return this.parts.approvals.request(transaction, {
        kind: 'period.waiver',
        subject: `period-end:${end}`,
        accountId: null,
        payload: { end, item, count, findings: found.findings, reason },
        amount: null,
        reason,
        actor,
        requestId,
      });
    });
  }

  list(end: Date): Promise<Waiver[]> {
    return waiversOf(this.parts.pool, end);
  }

  private async apply(
    client: pg.PoolClient,
    { end, ...agreed }: z.infer<typeof payload>,
    { requestedBy, decidedBy }: ApprovalContext,
  ): Promise<{ id: string }> {
    requireWaivable(agreed.item);
    await requireOpen(client, new Date(end));
    const people = { requestedBy: `user:${requestedBy}`, approvedBy: `user:${decidedBy}` };
    const { id } = await recordWaiver(client, { end: new Date(end), ...agreed, ...people });
    return { id };
  }
}

function requireWaivable(item: string): void {
  const may = waivableItems();
  if (may.includes(item)) return;
  throw invalidField('item', `${item} cannot be waived; these can: ${may.join(', ')}.`);
}

async function requireOpen(client: pg.ClientBase, end: Date): Promise<void> {
  const { rowCount } = await client.query(
    `SELECT FROM ledger_periods WHERE state = 'closed' AND ends_at >= $1 LIMIT 1`,
    [end],
  );
  if (rowCount !== 0) throw new ApiError('conflict', 'The books for that time are already closed.');
}

function countedMore(item: string, count: number): ApiError {
  const message = `count: ${item} now counts ${count}. Run the checklist again.`;
  return new ApiError('conflict', message, { param: 'count' });
}
