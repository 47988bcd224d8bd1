import type pg from 'pg';

/** What staff know by name: a customer's account, a user's person, and a key. */
export const namedKinds = ['account', 'user', 'key'] as const;
type NamedKind = (typeof namedKinds)[number];

export interface NameRef {
  kind: NamedKind;
  id: string;
}

/** An erased account `a` has no name. */
const IS_THERE = 'a.deleted_at IS NULL';

/**
 * The names of these ids. Unknown ones, and those without a name, are left out. People choose their own names, so a
 * colleague's comes with the email address: nobody can pose as a colleague who requests an approval.
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
