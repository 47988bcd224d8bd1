import { z } from 'zod';
import type { ApprovalService } from '#approvals/approval.service.js';
import type { EntityTransaction } from '#database/entity-transaction.js';
import { newId } from '#platform/ids.js';
import type { DoneBy } from '../prices/proposal.service.js';
import { type CatalogChanges, changeCatalog } from './catalog.changes.js';
import { cheapSales } from './cheap-sales.js';
import { modelsOf, salesIn } from './group-models.js';

const KIND = 'group.open';
const payload = z.strictObject({ group: z.string() });
type Payload = z.infer<typeof payload>;

/**
 * Opens groups to everyone, including the account of the person who decides. A group that sells a model far below its list
 * price, or at a fixed price, is opened once a second administrator has approved.
 */
export class GroupOpening {
  constructor(
    changes: CatalogChanges,
    private readonly approvals: ApprovalService,
  ) {
    approvals.register<Payload>({
      kind: KIND,
      roles: ['admin'],
      payload,
      apply: (client, { group }, { decidedBy, approvalId }) =>
        changeCatalog(client, { actor: `user:${decidedBy}`, requestId: approvalId }, async () => {
          await client.query('UPDATE groups SET open = true WHERE name = $1', [group]);
          const [before, after] = [{ open: false }, { open: true }];
          return { result: null, action: 'group.changed', subject: `group:${group}`, before, after };
        }),
      applied: () => changes.wake(),
    });
  }

  /**
   * In the transaction that holds the lock of the catalog, for a group that is closed.
   * @returns the approval that it waits for; null: one person may open it
   */
  async ask(transaction: EntityTransaction, group: string, by: DoneBy): Promise<string | null> {
    const { client } = transaction;
    const cheap = await cheapSales(client, salesIn(group, await modelsOf(client, group)));
    if (cheap.length === 0) return null;
    const approval = await this.approvals.requestOnce(transaction, {
      kind: KIND,
      subject: `group:${group}`,
      accountId: null,
      payload: { group },
      amount: null,
      reason: `Open ${group} to everyone. Prices there are fixed, or far below the list price.`,
      actor: { userId: by.actor.replace(/^user:/, '') },
      requestId: newId(),
    });
    return approval.id;
  }
}
