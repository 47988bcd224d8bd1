import type pg from 'pg';
import type { z } from 'zod';
import { routeOf } from '#catalog/catalog.js';
import { loadCatalog } from '#catalog/catalog.store.js';
import { type Decimal, plainDecimal } from '#money/amount.js';
import { ApiError } from '#platform/errors.js';
import type { ProgramReader } from './program.reader.js';
import type { modelRouteView } from './program.view.js';

type ModelRoute = z.output<typeof modelRouteView>;
type Vitals = Awaited<ReturnType<ProgramReader['channels']>>[number]['programs'][number];

const WORST = ['open', 'half_open', 'closed'] as const;

/** With equal chances, the channel with the highest weight comes first. */
const NO_CHANCE = () => 0.5;

/** The channels that a call of a model would try now, for administrators. */
export class ModelRoutes {
  constructor(
    private readonly pool: pg.Pool,
    private readonly programs: Pick<ProgramReader, 'channels'>,
  ) {}

  /**
   * The channels in order. Each gateway uses its own measurements. Here, the slowest counts.
   * @throws ApiError not_found
   */
  async find(model: string): Promise<ModelRoute> {
    const [catalog, health] = await Promise.all([loadCatalog(this.pool), this.programs.channels(null)]);
    const found = catalog.models.get(model);
    if (!found) throw new ApiError('not_found', `There is no model ${model}.`);
    const known = found.aliasOf ?? model;
    const vitalsOf = (id: string) =>
      health
        .filter(({ channelId }) => channelId === id)
        .flatMap(({ programs }) => programs)
        .filter((each) => each.program === 'gateway' && each.model === known);
    const latencyMs = (id: string) => slowest(vitalsOf(id));
    const route = routeOf(catalog, { model, latencyMs, chance: NO_CHANCE });
    const channels = route.map(({ id, priority, weight, groups, costs }) => ({
      channelId: id,
      groups: [...groups].sort(),
      priority,
      weight,
      cost: textOf(costs.get(known)),
      latencyMs: latencyMs(id),
      state: worst(vitalsOf(id)),
    }));
    return { routing: found.routing, channels };
  }
}

function textOf(cost: Decimal | undefined): string | null {
  return cost ? plainDecimal(cost) : null;
}

function worst(vitals: readonly Vitals[]): Vitals['state'] {
  return WORST.find((state) => vitals.some((each) => each.state === state)) ?? 'closed';
}

function slowest(vitals: readonly Vitals[]): number | null {
  const known = vitals.map(({ latencyMs }) => latencyMs).filter((ms) => ms !== null);
  return known.length > 0 ? Math.max(...known) : null;
}
