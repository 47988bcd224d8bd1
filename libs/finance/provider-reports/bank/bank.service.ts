import type pg from 'pg';
import { inTransaction } from '#database/database.js';
import { audit } from '#identity/audit-log.js';
import { refuseOwnInterest } from '#identity/own-interest.js';
import { bookSuspense } from '#ledger/postings/suspense.js';
import { ApiError } from '#platform/errors.js';
import type { FinanceRequest } from '#payments/finance-credit.js';
import { type BankAccount, listBankAccounts, saveBankAccount } from './bank.import.js';
import { type BankMatchKind, lockMatching, matchBankLine, pastTime, undoBankMatch } from './bank-match.js';

/** Finds whose money each type of subject is. */
const ACCOUNT_OF: Partial<Record<BankMatchKind, string>> = {
  topup: 'SELECT account_id AS "accountId" FROM topups WHERE id = $1',
  refund: `SELECT t.account_id AS "accountId" FROM topup_refunds r JOIN topups t ON t.id = r.topup_id WHERE r.id = $1`,
  suspense: `SELECT coalesce(t.account_id, o.account_id) AS "accountId" FROM suspense_items s
    LEFT JOIN topups t ON t.id = s.topup_id LEFT JOIN topup_orders o ON o.id = s.order_id WHERE s.id = $1`,
};

export interface BankServiceParts {
  readonly pool: pg.Pool;
  readonly config: { readonly payments: { readonly currency: string } };
}

export class BankService {
  constructor(private readonly parts: BankServiceParts) {}

  list(): Promise<BankAccount[]> {
    return listBankAccounts(this.parts.pool);
  }

  async save(account: BankAccount, { actor, auditId }: FinanceRequest): Promise<void> {
    const by = { actor: `user:${actor.userId}`, requestId: auditId };
    await inTransaction(this.parts.pool, (client) => saveBankAccount(client, account, by));
  }

  /** @throws ApiError not_found, conflict, invalid_value, second_person_required */
  async match(
    said: { bankLineId: bigint; kind: BankMatchKind; subject: string | null; note: string },
    { actor, auditId }: FinanceRequest,
  ): Promise<void> {
    const { bankLineId, kind, note } = said;
    const by = `user:${actor.userId}`;
    await inTransaction(this.parts.pool, async (client) => {
      await lockMatching(client);
      const subject = await this.subjectOf(client, said);
      await refuseOwnMoney(client, actor, { kind, subject });
      await matchBankLine(
        client,
        { bankLineId, kind, subject },
        { actor: by, note, house: this.parts.config.payments.currency },
      );
      await audit(client, {
        actor: by,
        action: 'bank-line.matched',
        subject: `bank-line:${bankLineId}`,
        after: { kind, subject, note },
        requestId: auditId,
      });
    });
  }

  /** @throws ApiError not_found, second_person_required */
  async undo(bankLineId: bigint, note: string, { actor, auditId }: FinanceRequest): Promise<void> {
    await inTransaction(this.parts.pool, async (client) => {
      await lockMatching(client);
      await refuseOwnMoney(client, actor, await matchOf(client, bankLineId));
      await undoBankMatch(client, bankLineId, `user:${actor.userId}`);
      await audit(client, {
        actor: `user:${actor.userId}`,
        action: 'bank-line.undone',
        subject: `bank-line:${bankLineId}`,
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

  /** A transfer of unknown origin: it waits in suspense and can be credited from there. */
  private async suspend(client: pg.ClientBase, bankLineId: bigint): Promise<string> {
    const { rows } = await client.query<{
      reference: string;
      amountMinor: bigint;
      currency: string;
      bookedOn: string;
    }>(
      `SELECT 'bank:' || bank_account_id || ':' || line_id AS reference, amount_minor AS "amountMinor", currency,
         booked_on::text AS "bookedOn" FROM bank_lines WHERE id = $1`,
      [bankLineId],
    );
    const line = rows[0];
    if (!line) throw new ApiError('not_found', 'There is no such line.');
    const { bookedOn, ...money } = line;
    const happenedAt = await pastTime(client, bookedOn);
    const item = { ...money, provider: 'manual', orderId: null, why: 'no_order', happenedAt } as const;
    const { itemId } = await bookSuspense(client, item, this.parts.config.payments.currency);
    return itemId;
  }
}

interface Said {
  kind: BankMatchKind;
  subject: string;
}

async function matchOf(client: pg.ClientBase, bankLineId: bigint): Promise<Said | undefined> {
  const { rows } = await client.query<Said>(
    'SELECT kind, subject FROM bank_matches WHERE bank_line_id = $1 AND undone_at IS NULL',
    [bankLineId],
  );
  return rows[0];
}

/** Nobody can classify money of their own account. */
async function refuseOwnMoney(
  client: pg.ClientBase,
  actor: FinanceRequest['actor'],
  said: Said | undefined,
): Promise<void> {
  const sql = said && ACCOUNT_OF[said.kind];
  if (!sql) return;
  const { rows } = await client.query<{ accountId: string | null }>(sql, [said.subject]);
  await refuseOwnInterest(client, actor, rows[0]?.accountId ?? null);
}
