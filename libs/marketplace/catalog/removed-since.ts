import type pg from 'pg';
import { ApiError } from '#platform/errors.js';

/** Entries of a list of the catalog. */
export interface Entries {
  /** What has the list, such as `group:{name}`, and the path of the list in its audit log. */
  readonly subject: string;
  readonly path: readonly string[];
  readonly names: readonly string[];
}

/**
 * What was removed after its approval was requested stays removed, so that nobody brings it back with an old request. In the
 * transaction that holds the lock of the catalog: one change follows the other in the audit log.
 * @throws ApiError conflict
 */
export async function refuseRemoved(
  client: pg.ClientBase,
  approvalId: string,
  lists: readonly Entries[],
): Promise<void> {
  const name = await removedSince(client, approvalId, lists);
  if (name === null) return;
  const message = `${name} was removed after this was requested. Reject this, and ask again if it is still needed.`;
  throw new ApiError('conflict', message);
}

/** One of the entries that was removed after this approval was requested; null: none was. */
export async function removedSince(
  client: pg.ClientBase,
  approvalId: string,
  lists: readonly Entries[],
): Promise<string | null> {
  for (const list of lists) {
    const name = await removedOf(client, approvalId, list);
    if (name !== null) return name;
  }
  return null;
}

async function removedOf(
  client: pg.ClientBase,
  approvalId: string,
  { subject, path, names }: Entries,
): Promise<string | null> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT name FROM approvals p
       JOIN audit_log asked ON asked.subject = p.subject AND asked.action = 'approval.requested'
         AND asked.after ->> 'approvalId' = p.id
       JOIN audit_log since ON since.subject = $2 AND since.id > asked.id
       CROSS JOIN unnest($4::text[]) AS name
     WHERE p.id = $1 AND since.before #> $3::text[] ? name AND NOT since.after #> $3::text[] ? name LIMIT 1`,
    [approvalId, subject, path, names],
  );
  return rows[0]?.name ?? null;
}
