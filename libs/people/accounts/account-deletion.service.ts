import type pg from 'pg';
import { DataSource } from 'typeorm';
import type { OutboxRelay } from '#bus/outbox.js';
import { inTransaction } from '#database/database.js';
import { inEntityTransaction } from '#database/entity-transaction.js';
import { emailsOfAccount } from '#identity/account.store.js';
import { refuseOwnInterest } from '#identity/own-interest.js';
import type { Actor } from '#identity/role.js';
import { readBalance } from '#ledger/postings/customer-account.js';
import { queueMail } from '#mail/mail.outbox.js';
import { ApiError } from '#platform/errors.js';
import { cancelDeletion, type Deletion, requestDeletion } from '#privacy/deletion-request.js';
import { ApprovalService } from '#approvals/approval.service.js';
import type { PrivacyConfig } from '#privacy/privacy.config.js';
import { type Speaker, TicketService } from '#support/ticket.service.js';
import { PasswordService } from '../password.service.js';
import { SignInService } from '../sign-in.service.js';
import { DELETION_KIND, mailOwner, registerDeletions } from './account-deletion.approval.js';
import type { StaffOperation } from './freezing.js';

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

export interface AccountDeletionServiceParts {
  readonly approvals: ApprovalService;
  readonly pool: pg.Pool;
  readonly source: DataSource;
  readonly config: { readonly privacy: PrivacyConfig };
  readonly relay: Pick<OutboxRelay, 'wake'>;
  readonly passwords: PasswordService;
  readonly signIns: SignInService;
  readonly tickets: TicketService;
}

/** Deletions of accounts: by their owners, or by two colleagues because of a ticket. */
export class AccountDeletionService {
  constructor(private readonly parts: AccountDeletionServiceParts) {
    registerDeletions(parts.approvals, {
      graceMs: () => this.parts.config.privacy.deletionGraceMs,
      wake: () => this.parts.relay.wake(),
    });
  }

  async preview(accountId: string) {
    const balance = await readBalance(this.parts.pool, accountId);
    if (!balance) throw unknownAccount();
    return { graceSeconds: this.parts.config.privacy.deletionGraceMs / 1000, ...balance };
  }

  /** @throws ApiError forbidden for a wrong password, totp_required, sign_in_failed, conflict */
  async request(actor: Actor, consent: OwnerConsent, requestId: string): Promise<Deletion> {
    const person = await this.parts.passwords.stepUp(actor, consent.password, 'password');
    await this.parts.signIns.checkCode(person, consent.code);
    const deletion = await inTransaction(this.parts.pool, async (client) => {
      const { accountId } = actor;
      const made = await requestDeletion(client, {
        accountId,
        requestedBy: `user:${person.id}`,
        ticketId: null,
        requestId,
        forfeits: consent.forfeitBalance,
        graceMs: this.parts.config.privacy.deletionGraceMs,
      });
      await mailOwner(client, made);
      return made;
    });
    this.parts.relay.wake();
    return deletion;
  }

  /** @returns the approval for an administrator to decide */
  ask(speaker: Speaker, asked: StaffRequest): Promise<string> {
    const { ticketId, reason, forfeitBalance: forfeits, requestId } = asked;
    return inEntityTransaction(this.parts.source, async (transaction) => {
      const { accountId } = await this.parts.tickets.lock(transaction, speaker, ticketId);
      const { id } = await this.parts.approvals.request(transaction, {
        kind: DELETION_KIND,
        subject: `account:${accountId}`,
        accountId,
        amount: null,
        reason,
        payload: { accountId, ticketId, forfeits },
        actor: speaker.actor,
        requestId,
      });
      return id;
    });
  }

  /**
   * Cancels a deletion for an owner who cannot sign in, and mails them.
   * @throws ApiError not_found, second_person_required, conflict if there is nothing to cancel, or no longer
   */
  async cancel({ actor, ...operation }: StaffOperation, reason: string): Promise<void> {
    const { accountId } = operation;
    if (!(await readBalance(this.parts.pool, accountId))) throw unknownAccount();
    await inTransaction(this.parts.pool, async (client) => {
      await refuseOwnInterest(client, actor, accountId);
      if (!(await cancelDeletion(client, { ...operation, reason })))
        throw new ApiError('conflict', 'This account has no deletion that can be cancelled.');
      for (const to of await emailsOfAccount(client, accountId))
        await queueMail(client, { template: 'account_kept', to, details: {} });
    });
  }
}

function unknownAccount(): ApiError {
  return new ApiError('not_found', 'There is no such account.');
}
