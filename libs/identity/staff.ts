import type pg from 'pg';
import { ApiError } from '#platform/errors.js';
import { rolesOfStaff } from './role.js';

/** SQL for the rows of users who are staff: the condition of an index, which finds few among many customers. */
export const IS_STAFF = `roles <> '{user}'`;

/**
 * Refuses to decide about what a former colleague asked for: where two people are needed, both must be on the staff.
 * @param advice what to do instead, as a sentence
 * @throws ApiError conflict
 */
export async function refuseOfFormer(client: pg.ClientBase, userId: string, advice: string): Promise<void> {
  const { rowCount } = await client.query(
    'SELECT FROM users WHERE id = $1 AND (disabled_at IS NOT NULL OR NOT roles && $2)',
    [userId, rolesOfStaff],
  );
  if (rowCount !== 0)
    throw new ApiError('conflict', `The person who asked for this has left the staff. ${advice}`);
}
