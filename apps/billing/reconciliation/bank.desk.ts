import { Inject, Injectable } from '@nestjs/common';
import type pg from 'pg';
import { inTransaction } from '#database/database.js';
import {
  type BankAccount,
  findBankAccount,
  listBankAccounts,
  saveBankAccount,
} from '#finance/provider-reports/bank.import.js';
import {
  type BankMatchKind,
  lockMatching,
  matchBankLine,
  pastTime,
  undoBankMatch,
} from '#finance/provider-reports/bank-match.js';
import { audit } from '#identity/audit-log.js';
import { bookSuspense } from '#ledger/suspense.js';
import { ApiError } from '#platform/errors.js';
import type { BillingConfig } from '../billing.config.js';
import { CONFIG, POOL } from '../billing.tokens.js';
import type { Asking } from '../payments/finance-credit.js';

/** What people of finance say of accounts at banks and of lines on them. */
@Injectable()
export class BankDesk {
  constructor(
    @Inject(POOL) private readonly pool: pg.Pool,
    @Inject(CONFIG) private readonly config: BillingConfig,
  ) {}

  list(): Promise<BankAccount[]> {
    return listBankAccounts(this.pool);
  }

  async save(account: BankAccount, { actor, auditId }: Asking): Promise<void> {
    await inTransaction(this.pool, async (client) => {
      const before = await findBankAccount(client, account.id);
      await saveBankAccount(client, account, `user:${actor.userId}`);
      await audit(client, {
        ...{
          actor: `user:${actor.userId}`,
          action: 'bank-account.saved',
          subject: `bank-account:${account.id}`,
        },
        ...{ before: before?.mapping, after: account.mapping },
        requestId: auditId,
      });
    });
  }

  /** @throws ApiError not_found, conflict, invalid_value */
  async match(
    said: { bankLineId: bigint; kind: BankMatchKind; subject: string | null; note: string },
    { actor, auditId }: Asking,
  ): Promise<void> {
    const { bankLineId, kind, note } = said;
    const by = `user:${actor.userId}`;
    await inTransaction(this.pool, async (client) => {
      await lockMatching(client);
      const subject = await this.subjectOf(client, said);
      await matchBankLine(
        client,
        { bankLineId, kind, subject },
        { actor: by, note, house: this.config.payments.currency },
      );
      await audit(client, {
        ...{ actor: by, action: 'bank-line.matched', subject: `bank-line:${bankLineId}` },
        after: { kind, subject, note },
        requestId: auditId,
      });
    });
  }

  /** @throws ApiError not_found */
  async undo(bankLineId: bigint, note: string, { actor, auditId }: Asking): Promise<void> {
    await inTransaction(this.pool, async (client) => {
      await lockMatching(client);
      await undoBankMatch(client, bankLineId, `user:${actor.userId}`);
      await audit(client, {
        ...{ actor: `user:${actor.userId}`, action: 'bank-line.undone', subject: `bank-line:${bankLineId}` },
        after: { note },
        requestId: auditId,
      });
    });
  }

  private async subjectOf(
    client: pg.ClientBase,
    { bankLineId, kind, subject }: { bankLineId: bigint; kind: BankMatchKind; subject: string | null },
  ): Promise<string> {
    if (kind === 'none') return '';
    if (kind === 'suspense' && subject === null) return this.suspend(client, bankLineId);
    if (subject !== null) return subject;
    throw new ApiError('missing_required_parameter', `subject is required for a ${kind}.`, {
      param: 'subject',
    });
  }

  /** A transfer of which nobody knows whose it is: it waits in suspense, and is credited from there. */
  private async suspend(client: pg.ClientBase, bankLineId: bigint): Promise<string> {
    const { rows } = await client.query<{
      reference: string;
      amount: string;
      currency: string;
      bookedOn: string;
    }>(
      `SELECT 'bank:' || bank_account_id || ':' || line_id AS reference, amount_minor::text AS amount, currency,
         booked_on::text AS "bookedOn" FROM bank_lines WHERE id = $1`,
      [bankLineId],
    );
    const line = rows[0];
    if (!line) throw new ApiError('not_found', 'There is no such line.');
    const { itemId } = await bookSuspense(
      client,
      {
        ...{ provider: 'manual', reference: line.reference, orderId: null, why: 'no_order' },
        ...{ amountMinor: BigInt(line.amount), currency: line.currency },
        happenedAt: await pastTime(client, line.bookedOn),
      },
      this.config.payments.currency,
    );
    return itemId;
  }
}
