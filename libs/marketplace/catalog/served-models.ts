import type pg from 'pg';
import { mayServe, SERVING_RULE } from '#groups/access.js';
import { ApiError } from '#platform/errors.js';

/** A model in a group that may not serve it. An alias counts as its model. */
const PAIRS = `
SELECT g.group_name AS "group", m.id AS model, m.family, array_remove(ARRAY[m.owned_by, target.owned_by], NULL) AS owners
FROM group_models g JOIN models m ON m.id = g.model_id LEFT JOIN models target ON target.id = m.alias_of
WHERE g.group_name = ANY ($1) OR m.id = ANY ($2) OR m.alias_of = ANY ($2)
ORDER BY 1, 2`;

/**
 * Refuses a change after which a group has a model that it may not serve. It checks the changed state in the same
 * transaction. @throws ApiError invalid_value
 */
export async function requireServable(
  client: pg.ClientBase,
  changed: { groups?: readonly string[]; models?: readonly string[]; param: string },
): Promise<void> {
  const { groups = [], models = [], param } = changed;
  const { rows } = await client.query<{ group: string; model: string; family: string; owners: string[] }>(
    PAIRS,
    [groups, models],
  );
  const wrong = rows.find(({ group, ...model }) => !mayServe(group, model));
  if (!wrong) return;
  const message = `${param}: ${wrong.group} may not serve ${wrong.model}: ${SERVING_RULE}. Leave it out of the group.`;
  throw new ApiError('invalid_value', message, { param });
}
