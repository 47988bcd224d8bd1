import type { DataSource } from 'typeorm';
import type pg from 'pg';
import { inEntityTransaction } from '#database/entity-transaction.js';
import { findAccount } from '#identity/account.store.js';
import { grantGroup, withdrawGroup } from '#groups/account-groups.js';
import type { AuditAction } from '#identity/audit-actions.js';
import { audit } from '#identity/audit-log.js';
import { refuseOwnInterest } from '#identity/own-interest.js';
import { ApiError, invalidField } from '#platform/errors.js';
import { noteDecision } from './ticket-decision.js';
import type { Speaker, TicketService } from './ticket.service.js';

export interface GroupOfAccount {
  readonly accountId: string;
  readonly group: string;
}

/** Grants and withdraws groups that are not open to everyone. */
export class GroupGrants {
  constructor(
    private readonly source: DataSource,
    private readonly tickets: TicketService,
  ) {}

  /** @throws ApiError for an unknown account or group, one's own account, and another account's ticket */
  async grant(by: Speaker, of: GroupOfAccount, ticketId?: string): Promise<void> {
    await inEntityTransaction(this.source, async (transaction) => {
      const { client } = transaction;
      await mustExist(client, of);
      // A group is a price.
      await refuseOwnInterest(client, by.actor, of.accountId);
      if (ticketId !== undefined) {
        const ticket = await this.tickets.lock(transaction, by, ticketId);
        if (ticket.accountId !== of.accountId)
          throw invalidField('ticketId', 'the ticket belongs to another account.');
      }
      const actor = `user:${by.actor.userId}`;
      if (!(await grantGroup(client, { ...of, by: actor, ticketId }))) return;
      if (ticketId !== undefined) {
        const event = `Granted: you can now create keys in the group ${of.group}.`;
        await noteDecision(client, { ticketId, authorId: by.actor.userId, outcome: null, event });
      }
      await note(client, by, { ...of, action: 'group.granted', after: { group: of.group, ticketId } });
    });
  }

  /** @throws ApiError for an unknown account or group */
  async withdraw(by: Speaker, of: GroupOfAccount): Promise<void> {
    await inEntityTransaction(this.source, async ({ client }) => {
      await mustExist(client, of);
      await refuseOwnInterest(client, by.actor, of.accountId);
      if (!(await withdrawGroup(client, of))) return;
      await note(client, by, { ...of, action: 'group.withdrawn', before: { group: of.group } });
    });
  }
}

async function mustExist(client: pg.ClientBase, { accountId, group }: GroupOfAccount): Promise<void> {
  if (!(await findAccount(client, accountId))) throw new ApiError('not_found', 'There is no such account.');
  const { rows } = await client.query('SELECT FROM groups WHERE name = $1', [group]);
  if (rows.length === 0) throw new ApiError('not_found', `There is no group ${group}.`);
}

async function note(
  client: pg.ClientBase,
  { actor, requestId }: Speaker,
  {
    accountId,
    action,
    before,
    after,
  }: GroupOfAccount & { action: AuditAction; before?: unknown; after?: unknown },
): Promise<void> {
  const subject = `account:${accountId}`;
  await audit(client, {
    actor: `user:${actor.userId}`,
    action,
    subject,
    accountId,
    before,
    after,
    requestId,
  });
}
