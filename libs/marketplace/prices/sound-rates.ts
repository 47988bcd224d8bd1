import type pg from 'pg';
import { ApiError } from '#platform/errors.js';
import { soundOfVideos } from '#upstream/adapters.js';
import type { PriceChange } from './price-change.js';
import { ratesOf } from './rates.js';

/** The protocols of a model's channels, those of its aliases too. */
const PROTOCOLS = `
SELECT coalesce(m.alias_of, m.id) AS model, array_agg(DISTINCT c.protocol) AS protocols
FROM channel_models cm JOIN channels c ON c.id = cm.channel_id JOIN models m ON m.id = cm.model_id
WHERE coalesce(m.alias_of, m.id) = ANY ($1) GROUP BY 1`;

/**
 * Refuses rates for videos without sound if all channels of the model always add it: no request could pay them.
 * @throws ApiError naming the change at fault
 */
export async function refuseUnreachableSilence(
  client: pg.ClientBase,
  changes: readonly PriceChange[],
): Promise<void> {
  const silent = changes.flatMap((change, at) => {
    if (change.kind !== 'price') return [];
    const rate = ratesOf(change.price).findIndex(({ when }) => when.audio === 'off');
    return rate < 0 ? [] : [{ model: change.model, at, rate }];
  });
  if (silent.length === 0) return;
  const { rows } = await client.query<{ model: string; protocols: string[] }>(PROTOCOLS, [
    silent.map(({ model }) => model),
  ]);
  const loud = rows.filter(({ protocols }) => protocols.every((each) => soundOfVideos(each) === 'always'));
  const wrong = silent.find(({ model }) => loud.some((each) => each.model === model));
  if (!wrong) return;
  const message = `rates.${wrong.rate} can never apply: all channels of ${wrong.model} make videos with sound. Leave it out, or add a channel that can do without.`;
  throw new ApiError('invalid_value', message, { param: `changes.${wrong.at}` });
}
