import type pg from 'pg';
import { z } from 'zod';
import { numberText, type RowOf, timeView } from '#platform/http/fields.js';

/** The actor, as far as a customer may know: our staff by role, never by name. */
const activityActors = ['you', 'support', 'finance', 'admin', 'system'] as const;

export const activityLine = z.object({
  id: numberText,
  action: z.string().meta({ examples: ['account.view_began', 'session.opened', 'key.created'] }),
  by: z.enum(activityActors).describe('You, or the role of the actor.'),
  subject: z.string().describe('The subject, as `kind:{id}`.'),
  reason: z.string().nullable(),
  ticketId: z.string().nullable(),
  at: timeView,
});
export type ActivityLine = RowOf<typeof activityLine, Date>;

/** Audit log actions about access to an account. Internal notes of staff are not included. */
const SHOWN = [
  'account.view_began',
  'account.view_ended',
  'account.changed',
  'account.frozen',
  'account.unfrozen',
  'account.sessions_revoked',
  'account.deletion_%',
  'account.export_%',
  'email.%',
  'key.%',
  'password.%',
  'person.%',
  'session.%',
  'totp.%',
  'webhook.%',
];
/** Only these reasons were written for the owner. */
const REASONS_FOR_THE_OWNER = ['account.view_began', 'account.frozen'];

/**
 * Access to an account, newest first: sign-ins, keys, views by staff, and requests for exports and deletion.
 * @param before the id of the last line that was read; null at first
 */
export async function readActivity(
  database: pg.Pool | pg.ClientBase,
  accountId: string,
  { limit, before }: { limit: number; before: string | null },
): Promise<ActivityLine[]> {
  const { rows } = await database.query<ActivityLine>(
    `SELECT l.id, l.action, l.subject, l.recorded_at AS at, l.after ->> 'ticketId' AS "ticketId",
       CASE WHEN l.action = ANY ($4) THEN l.after ->> 'reason' END AS reason,
       CASE WHEN u.account_id = l.account_id THEN 'you' WHEN l.actor = 'system' THEN 'system'
         WHEN l.after ->> 'role' = 'support' THEN 'support' WHEN 'admin' = ANY (u.roles) THEN 'admin'
         WHEN 'finance' = ANY (u.roles) THEN 'finance' WHEN u.id IS NOT NULL THEN 'support' ELSE 'admin' END AS by
     FROM audit_log l LEFT JOIN users u ON u.id = CASE WHEN l.actor LIKE 'user:%' THEN substr(l.actor, 6) END
     WHERE l.account_id = $1 AND ($2::bigint IS NULL OR l.id < $2) AND l.action LIKE ANY ($3)
     ORDER BY l.id DESC LIMIT $5`,
    [accountId, before, SHOWN, REASONS_FOR_THE_OWNER, limit],
  );
  return rows;
}
