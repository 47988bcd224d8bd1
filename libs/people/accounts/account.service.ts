import type pg from 'pg';
import { inTransaction } from '#database/database.js';
import type { AuditAction } from '#identity/audit-actions.js';
import { audit } from '#identity/audit-log.js';
import { countDaily } from '#identity/daily-limits.js';
import { NO_NAME } from '#identity/redaction.js';
import { refuseOwnInterest } from '#identity/own-interest.js';
import { revokeSessions } from '#identity/session.store.js';
import type { FreezeResult } from '#ledger/postings/freeze.js';
import { formatAmount, nanos } from '#money/amount.js';
import { ApiError } from '#platform/errors.js';
import { realChanges } from '#platform/real-changes.js';
import { type AccountOperation, freezeAccount, type StaffOperation, unfreezeAccount } from './freezing.js';

/** Settings of an account's owner. Omitted ones stay unchanged, and null means none. Amounts are in nanos. */
export interface AccountChange {
  name?: string | undefined;
  lowBalanceThreshold?: bigint | null | undefined;
  monthlyLimit?: bigint | null | undefined;
}

interface Settings {
  name: string;
  lowBalanceThreshold: bigint | null;
  monthlyLimit: bigint | null;
}

/** Changes accounts, for their owners and for support. */
export class AccountService {
  constructor(private readonly pool: pg.Pool) {}

  /** @throws ApiError not_found, too_many_attempts */
  async change(operation: AccountOperation, change: AccountChange): Promise<void> {
    await inTransaction(this.pool, async (client) => {
      const before = await lockSettings(client, operation.accountId);
      const given = realChanges(before, change);
      if (Object.keys(given).length === 0) return;
      const after = { ...before, ...given };
      await writeSettings(client, operation.accountId, { before, after });
      const changed = (settings: Settings) =>
        describe(
          Object.fromEntries(Object.keys(given).map((name) => [name, settings[name as keyof Settings]])),
        );
      await countDaily(client, operation.accountId, 'changes of settings');
      await note(client, operation, {
        action: 'account.changed',
        before: changed(before),
        after: changed(after),
      });
    });
  }

  /** @throws ApiError not_found */
  async freeze(operation: StaffOperation, reason: string): Promise<void> {
    refuseFault(await freezeAccount(this.pool, operation, reason));
  }

  /** @throws ApiError not_found, conflict while the balance is below zero */
  async unfreeze(operation: StaffOperation, note: string): Promise<void> {
    refuseFault(await unfreezeAccount(this.pool, operation, note));
  }

  /** Ends every session of an account's person. @returns how many. @throws ApiError not_found */
  async revokeSessions(operation: StaffOperation): Promise<number> {
    return inTransaction(this.pool, async (client) => {
      await refuseOwnInterest(client, operation.actor, operation.accountId);
      const { rows } = await client.query<{ userId: string | null }>(
        'SELECT u.id AS "userId" FROM accounts a LEFT JOIN users u ON u.account_id = a.id WHERE a.id = $1',
        [operation.accountId],
      );
      if (!rows[0]) throw noSuchAccount();
      const { userId } = rows[0];
      const revoked = userId === null ? 0 : await revokeSessions(client, userId);
      await note(client, operation, { action: 'account.sessions_revoked', after: { revoked } });
      return revoked;
    });
  }
}

function refuseFault({ outcome }: FreezeResult): void {
  if (outcome === 'not_found') throw noSuchAccount();
  if (outcome === 'deleted') throw new ApiError('conflict', 'The account was deleted, and stays frozen.');
  if (outcome === 'in_debt')
    throw new ApiError('conflict', 'The balance is below zero. Add credits to unfreeze the account.');
}

/** Locks the balances like every hold, so that each hold precedes the change or sees it. */
async function lockSettings(client: pg.ClientBase, accountId: string): Promise<Settings> {
  const { rows } = await client.query<Settings>(
    `SELECT a.name, b.low_balance_threshold AS "lowBalanceThreshold", b.monthly_limit AS "monthlyLimit"
     FROM customer_balances b JOIN accounts a ON a.id = b.account_id WHERE b.account_id = $1 FOR UPDATE OF b`,
    [accountId],
  );
  if (!rows[0]) throw noSuchAccount();
  return rows[0];
}

/** Both, unless the one before was noted: statements of past months have the name of their time. */
const NOTE_NAMES = `INSERT INTO account_names (account_id, name)
  SELECT $1, given.name FROM unnest($2::text[]) WITH ORDINALITY AS given (name, place)
  WHERE place = 2 OR given.name IS DISTINCT FROM
    (SELECT n.name FROM account_names n WHERE n.account_id = $1 ORDER BY n.id DESC LIMIT 1)
  ORDER BY place`;

/** A new threshold above the current balance is no crossing, since its owner has just seen the balance. */
async function writeSettings(
  client: pg.ClientBase,
  accountId: string,
  { before, after }: { before: Settings; after: Settings },
): Promise<void> {
  if (after.name !== before.name) {
    await countDaily(client, accountId, 'changes of name');
    await client.query(NOTE_NAMES, [accountId, [before.name, after.name]]);
    await client.query('UPDATE accounts SET name = $2 WHERE id = $1', [accountId, after.name]);
  }
  const { lowBalanceThreshold, monthlyLimit } = after;
  await client.query(
    `UPDATE customer_balances SET monthly_limit = $2, low_balance_threshold = $3,
       low_balance_told = CASE WHEN low_balance_threshold IS NOT DISTINCT FROM $3 THEN low_balance_told
         ELSE coalesce(main < $3, false) END
     WHERE account_id = $1`,
    [accountId, monthlyLimit, lowBalanceThreshold],
  );
}

async function note(
  client: pg.ClientBase,
  { by, accountId, requestId }: AccountOperation,
  what: { action: AuditAction; before?: unknown; after?: unknown },
): Promise<void> {
  const subject = `account:${accountId}`;
  await audit(client, { actor: by, subject, accountId, requestId, ...what });
}

/** As stored in the audit log: amounts as decimal strings, and no name. */
function describe(settings: Partial<Settings>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(settings).map(([name, value]) => {
      if (name === 'name') return [name, NO_NAME];
      return [name, typeof value === 'bigint' ? formatAmount(nanos(value)) : value];
    }),
  );
}

function noSuchAccount(): ApiError {
  return new ApiError('not_found', 'There is no such account.');
}
