import type pg from 'pg';
import type { AuditAction } from './audit-actions.js';
import { withoutAddresses, withoutAddressesIn } from './redaction.js';

type Concerned =
  /** `kind:{id}`, such as `model:imgmodel-4`, and the customer concerned, if any. */
  | { subject: string; accountId?: string | null }
  /** The account itself. */
  | { subject?: undefined; accountId: string };

export type AuditRecord = Concerned & {
  /** `user:{id}`, `cli:{login}` or `system`. */
  actor: string;
  action: AuditAction;
  before?: unknown;
  after?: unknown;
  requestId: string | null;
};

/**
 * Logs a change in the transaction that makes it, so that neither exists without the other. The log contains no
 * secrets, names or prompts. It names people by their ids, and replaces email addresses in texts.
 */
export async function audit(client: pg.ClientBase, record: AuditRecord): Promise<void> {
  const { actor, action, accountId = null, before, after, requestId } = record;
  await client.query(
    `INSERT INTO audit_log (actor, action, subject, account_id, before, after, request_id)
     VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    [
      actor,
      action,
      record.subject ?? `account:${accountId}`,
      accountId,
      jsonOf(before),
      jsonOf(after),
      requestId && withoutAddresses(requestId),
    ],
  );
}

/** Amounts are bigints in code and decimal strings here. The caller formats them. */
function jsonOf(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(withoutAddressesIn(value));
}
