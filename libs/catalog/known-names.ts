import type pg from 'pg';
import { ApiError } from '#platform/errors.js';

/** @throws ApiError naming the first of these names that is not known */
export function requireKnown(
  names: Iterable<string>,
  known: ReadonlySet<string>,
  { param, what }: { param: string; what: string },
): void {
  const unknown = [...names].find((name) => !known.has(name));
  if (unknown === undefined) return;
  throw new ApiError('invalid_value', `${param}: there is no ${what} ${unknown}.`, { param });
}

/** @throws ApiError naming the first of these models that does not exist */
export async function requireModels(
  client: pg.ClientBase,
  ids: readonly string[],
  param = 'models',
): Promise<void> {
  if (ids.length === 0) return;
  const { rows } = await client.query<{ id: string }>('SELECT id FROM models WHERE id = ANY ($1::text[])', [
    ids,
  ]);
  requireKnown(ids, new Set(rows.map(({ id }) => id)), { param, what: 'model' });
}
