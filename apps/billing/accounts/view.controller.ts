import { Controller, Inject } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { inEntityTransaction } from '#database/entity-transaction.js';
import { audit } from '#identity/audit-log.js';
import { SessionStore } from '#identity/session.store.js';
import { ApiError } from '#platform/errors.js';
import type { BillingConfig } from '../billing.config.js';
import { CONFIG } from '../billing.tokens.js';
import { type AnswerOf, type CallOf, Serves } from '../http/route.js';
import { viewRoutes as routes } from './view.routes.js';

/** Support looks at what a customer sees. Who looked at whom stands in the audit log. */
@Controller()
export class ViewController {
  constructor(
    @Inject(DataSource) private readonly source: DataSource,
    @Inject(SessionStore) private readonly sessions: SessionStore,
    @Inject(CONFIG) private readonly config: BillingConfig,
  ) {}

  @Serves(routes.begin)
  async begin({
    actor,
    params: { accountId },
    requestId,
  }: CallOf<typeof routes.begin>): Promise<AnswerOf<typeof routes.begin>> {
    return inEntityTransaction(this.source, async ({ client }) => {
      const { rows } = await client.query<{ name: string }>('SELECT name FROM accounts WHERE id = $1', [
        accountId,
      ]);
      if (!rows[0]) throw new ApiError('not_found', 'There is no such account.');
      const view = { accountId, lifeMs: this.config.console.viewLifeMs };
      const until = (await this.sessions.beginView(client, actor.sessionId, view)).toISOString();
      await audit(client, {
        actor: `user:${actor.userId}`,
        action: 'account.view_began',
        subject: `account:${accountId}`,
        accountId,
        after: { until },
        requestId,
      });
      return { accountId, name: rows[0].name, until };
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
        subject: `account:${accountId}`,
        accountId,
        requestId,
      });
    });
  }
}
