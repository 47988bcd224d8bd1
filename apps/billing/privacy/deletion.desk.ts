import { Inject, Injectable } from '@nestjs/common';
import type pg from 'pg';
import { DataSource } from 'typeorm';
import { z } from 'zod';
import { OutboxRelay } from '#bus/outbox.js';
import { inTransaction } from '#database/database.js';
import { inEntityTransaction } from '#database/entity-transaction.js';
import type { Actor } from '#identity/role.js';
import { readBalance } from '#ledger/customer-account.js';
import { ApiError } from '#platform/errors.js';
import { cancelDeletion, type Deletion, requestDeletion } from '#privacy/deletion-request.js';
import { type ApprovalContext, ApprovalDesk } from '../approvals/approval.desk.js';
import type { BillingConfig } from '../billing.config.js';
import { CONFIG, POOL } from '../billing.tokens.js';
import { queueMail } from '../mail/mail.outbox.js';
import { PasswordDesk } from '../people/password.desk.js';
import { SignInDesk } from '../people/sign-in.desk.js';
import { type Speaker, TicketDesk } from '../tickets/ticket.desk.js';

export interface OwnerConsent {
  password: string;
  code?: string | undefined;
  forfeitBalance: boolean;
}

export interface StaffRequest {
  ticketId: string;
  reason: string;
  forfeitBalance: boolean;
  requestId: string;
}

const KIND = 'account.deletion';
const approvalPayload = z.strictObject({
  accountId: z.string(),
  ticketId: z.string(),
  forfeits: z.boolean(),
});
type ApprovalPayload = z.infer<typeof approvalPayload>;

/** Deletions of accounts: by their owners, and by two colleagues because of a ticket. */
@Injectable()
export class DeletionDesk {
  @Inject(POOL) private readonly pool!: pg.Pool;
  @Inject(DataSource) private readonly source!: DataSource;
  @Inject(CONFIG) private readonly config!: BillingConfig;
  @Inject(OutboxRelay) private readonly relay!: OutboxRelay;
  @Inject(PasswordDesk) private readonly passwords!: PasswordDesk;
  @Inject(SignInDesk) private readonly signIns!: SignInDesk;
  @Inject(TicketDesk) private readonly tickets!: TicketDesk;

  constructor(@Inject(ApprovalDesk) private readonly approvals: ApprovalDesk) {
    approvals.register<ApprovalPayload>({
      ...{ kind: KIND, roles: ['admin'], payload: approvalPayload },
      apply: (client, payload, context) => this.apply(client, payload, context),
      applied: () => this.relay.wake(),
    });
  }

  async preview(accountId: string) {
    const balance = await readBalance(this.pool, accountId);
    if (!balance) throw unknownAccount();
    return { graceSeconds: this.config.privacy.deletionGraceMs / 1000, ...balance };
  }

  /** @throws ApiError forbidden for a wrong password, totp_required, sign_in_failed, conflict */
  async request(actor: Actor, consent: OwnerConsent, requestId: string): Promise<Deletion> {
    const person = await this.passwords.stepUp(actor, consent.password, 'password');
    await this.signIns.checkCode(person, consent.code);
    const deletion = await inTransaction(this.pool, async (client) => {
      const { accountId } = actor;
      const made = await requestDeletion(client, {
        ...{ accountId, requestedBy: `user:${person.id}`, ticketId: null, requestId },
        ...{ forfeits: consent.forfeitBalance, graceMs: this.config.privacy.deletionGraceMs },
      });
      await this.mailOwner(client, made);
      return made;
    });
    this.relay.wake();
    return deletion;
  }

  /** @returns the approval that an administrator decides. */
  ask(speaker: Speaker, asked: StaffRequest): Promise<string> {
    const { ticketId, reason, forfeitBalance: forfeits, requestId } = asked;
    return inEntityTransaction(this.source, async (transaction) => {
      const { accountId } = await this.tickets.lock(transaction, speaker, ticketId);
      const { id } = await this.approvals.request(transaction, {
        ...{ kind: KIND, subject: `account:${accountId}`, accountId, amount: null, reason },
        ...{ payload: { accountId, ticketId, forfeits }, actor: speaker.actor, requestId },
      });
      return id;
    });
  }

  /** @throws ApiError conflict when there is nothing to cancel, or no longer */
  async cancel(actor: Actor, accountId: string, requestId: string): Promise<void> {
    const by = `user:${actor.userId}`;
    if (!(await readBalance(this.pool, accountId))) throw unknownAccount();
    const done = await inTransaction(this.pool, (client) =>
      cancelDeletion(client, { accountId, by, requestId }),
    );
    if (!done) throw new ApiError('conflict', 'This account has no deletion that can still be cancelled.');
  }

  private async apply(
    client: pg.PoolClient,
    { accountId, ticketId, forfeits }: ApprovalPayload,
    { decidedBy, requestId }: ApprovalContext,
  ): Promise<unknown> {
    const deletion = await requestDeletion(client, {
      ...{ accountId, ticketId, forfeits, requestId, requestedBy: `user:${decidedBy}` },
      graceMs: this.config.privacy.deletionGraceMs,
    });
    await this.mailOwner(client, deletion);
    return { deletionId: deletion.id, dueAt: deletion.dueAt.toISOString() };
  }

  private async mailOwner(client: pg.ClientBase, { accountId, dueAt, id }: Deletion): Promise<void> {
    const { rows } = await client.query<{ email: string }>('SELECT email FROM users WHERE account_id = $1', [
      accountId,
    ]);
    const what =
      `Your account will be deleted after ${dueAt.toISOString().slice(0, 16).replace('T', ' ')} UTC. ` +
      'Its API keys no longer work. To keep the account, sign in before then and cancel the deletion.';
    for (const { email } of rows)
      await queueMail(client, {
        ...{ template: 'security_notice', to: email, details: { what }, event: `deletion:${id}` },
      });
  }
}

function unknownAccount(): ApiError {
  return new ApiError('not_found', 'There is no such account.');
}
