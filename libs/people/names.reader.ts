import type pg from 'pg';

/** What staff know by a name: the account of a customer, the person of a user, and a key. */
export const namedKinds = ['account', 'user', 'key'] as const;
type NamedKind = (typeof namedKinds)[number];

export interface NameRef {
  kind: NamedKind;
  id: string;
}

/** Of an account `a`: what erasure leaves of it has no name. */
const IS_THERE = 'a.deleted_at IS NULL';

/**
 * How these are called; those that are unknown, or have no name any more, are left out. Everybody chooses their own name, so
 * that of staff comes with the address: nobody can pass for a colleague who asks for an approval.
 */
export async function readNames(
  pool: pg.Pool,
  refs: readonly NameRef[],
): Promise<(NameRef & { name: string })[]> {
  const idsOf = (kind: NamedKind) => refs.filter((ref) => ref.kind === kind).map(({ id }) => id);
  const { rows } = await pool.query<NameRef & { name: string }>({
    name: 'names',
    text: `SELECT * FROM (
        SELECT 'account' AS kind, a.id, a.name FROM accounts a WHERE a.id = ANY ($1) AND ${IS_THERE}
        UNION ALL
        SELECT 'user', u.id,
          CASE WHEN u.roles <> '{user}' THEN concat_ws(' · ', nullif(a.name, ''), u.email) ELSE a.name END
        FROM users u JOIN accounts a ON a.id = u.account_id WHERE u.id = ANY ($2) AND ${IS_THERE}
        UNION ALL
        SELECT 'key', k.id, k.name FROM api_keys k JOIN accounts a ON a.id = k.account_id
        WHERE k.id = ANY ($3) AND ${IS_THERE}) AS named
      WHERE name <> ''`,
    values: [idsOf('account'), idsOf('user'), idsOf('key')],
  });
  return rows;
}
