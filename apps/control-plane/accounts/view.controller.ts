import { Controller } from '@nestjs/common';
import type pg from 'pg';
import { DataSource } from 'typeorm';
import { inEntityTransaction } from '#database/entity-transaction.js';
import { findAccount } from '#identity/account.store.js';
import { audit } from '#identity/audit-log.js';
import { SessionStore } from '#identity/session.store.js';
import { ApiError, invalidField } from '#platform/errors.js';
import { Using } from '#platform/wiring.js';
import { CONTROL_PLANE_CONFIG } from '../control-plane.tokens.js';
import { type CallOf, Serves } from '../http/route.js';
import { viewRoutes as routes } from './view.routes.js';

/** Support views the console of a customer. Who viewed whom, and why, is in the audit log, which the customer can read. */
@Controller()
export class ViewController extends Using({
  source: DataSource,
  sessions: SessionStore,
  config: CONTROL_PLANE_CONFIG,
}) {
  @Serves(routes.begin)
  async begin({
    actor,
    params: { accountId },
    body: { reason, ticketId },
    requestId,
  }: CallOf<typeof routes.begin>) {
    return inEntityTransaction(this.source, async ({ client }) => {
      const account = await findAccount(client, accountId);
      if (!account) throw new ApiError('not_found', 'There is no such account.');
      if (ticketId !== undefined) await requireTicket(client, { accountId, ticketId });
      const view = { accountId, lifeMs: this.config.console.viewLifeMs };
      const until = (await this.sessions.beginView(client, actor.sessionId, view)).toISOString();
      await audit(client, {
        actor: `user:${actor.userId}`,
        action: 'account.view_began',
        accountId,
        after: { until, reason, ticketId, role: actor.roles.includes('admin') ? 'admin' : 'support' },
        requestId,
      });
      return { accountId, name: account.name, until };
    });
  }

  @Serves(routes.end)
  async end({ actor, requestId }: CallOf<typeof routes.end>): Promise<void> {
    await inEntityTransaction(this.source, async ({ client }) => {
      const accountId = await this.sessions.endView(client, actor.sessionId);
      if (accountId === null) return;
      await audit(client, {
        actor: `user:${actor.userId}`,
        action: 'account.view_ended',
        accountId,
        requestId,
      });
    });
  }
}

async function requireTicket(
  client: pg.ClientBase,
  { accountId, ticketId }: { accountId: string; ticketId: string },
): Promise<void> {
  const { rowCount } = await client.query('SELECT FROM tickets WHERE id = $1 AND account_id = $2', [
    ticketId,
    accountId,
  ]);
  if (!rowCount) throw invalidField('ticketId', 'this account has no such ticket.');
}
