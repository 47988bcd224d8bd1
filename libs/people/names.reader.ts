import type pg from 'pg';

/** What staff know by a name: the account of a customer, the person of a user, and a key. */
export const namedKinds = ['account', 'user', 'key'] as const;
type NamedKind = (typeof namedKinds)[number];

export interface NameRef {
  kind: NamedKind;
  id: string;
}

/** How these are called; those that are unknown, or have no name any more, are left out. */
export async function readNames(
  pool: pg.Pool,
  refs: readonly NameRef[],
): Promise<(NameRef & { name: string })[]> {
  const idsOf = (kind: NamedKind) => refs.filter((ref) => ref.kind === kind).map(({ id }) => id);
  const { rows } = await pool.query<NameRef & { name: string }>({
    name: 'names',
    text: `SELECT * FROM (
        SELECT 'account' AS kind, id, name FROM accounts WHERE id = ANY ($1)
        UNION ALL
        SELECT 'user', u.id, coalesce(nullif(a.name, ''), u.email) FROM users u LEFT JOIN accounts a ON a.id = u.account_id
        WHERE u.id = ANY ($2)
        UNION ALL
        SELECT 'key', id, name FROM api_keys WHERE id = ANY ($3)) AS named
      WHERE name <> ''`,
    values: [idsOf('account'), idsOf('user'), idsOf('key')],
  });
  return rows;
}
