import { Controller, Inject } from '@nestjs/common';
import type pg from 'pg';
import { ApiError } from '#platform/errors.js';
import { pageFrom, readCursor } from '#platform/http/page.js';
import {
  compareKeys,
  isListed,
  listPrices,
  MarketReader,
  priceHistory,
  sortKey,
} from '#marketplace/price-list.js';
import { readModelRecord } from '#usage/model-days.js';
import type { ControlPlaneConfig } from '../control-plane.config.js';
import { CONTROL_PLANE_CONFIG, POOL } from '../control-plane.tokens.js';
import { cachedAnswer } from '../http/cached-answer.js';
import { type CallOf, Serves } from '../http/route.js';
import { marketRoutes as routes } from './market.routes.js';

/** The price list, for everybody. */
@Controller()
export class MarketController {
  constructor(
    @Inject(POOL) private readonly pool: pg.Pool,
    @Inject(MarketReader) private readonly market: MarketReader,
    @Inject(CONTROL_PLANE_CONFIG) private readonly config: ControlPlaneConfig,
  ) {}

  @Serves(routes.prices)
  async prices(call: CallOf<typeof routes.prices>) {
    const { limit, cursor, ...filter } = call.query;
    const after = readCursor(cursor, 3);
    const market = await this.market.read();
    const models = listPrices(market, filter);
    const from = after ? models.filter((model) => compareKeys(sortKey(model), after) > 0) : models;
    const page = pageFrom(from.slice(0, limit + 1), limit, sortKey);
    const changes = models.flatMap(({ nextChangeAt }) => (nextChangeAt ? [nextChangeAt.getTime()] : []));
    return this.cached(call, page, Math.min(...changes) - market.nowMs);
  }

  @Serves(routes.history)
  async history(call: CallOf<typeof routes.history>) {
    const { limit, cursor } = call.query;
    const market = await this.market.read();
    const entries = priceHistory(market, call.params.model);
    if (!entries) throw unknownModel(call.params.model);
    // Older entries never change and newer ones come before them, so a page continues after a count from the end.
    const left = Number(readCursor(cursor, 1, /^\d{1,9}$/)?.[0] ?? entries.length);
    const numbered = entries.map((entry, at) => ({ entry, left: entries.length - at - 1 }));
    const rest = numbered.filter((each) => each.left < left).slice(0, limit + 1);
    const page = pageFrom(rest, limit, (each) => [String(each.left)]);
    const announced = entries.flatMap(({ state, effectiveFrom }) =>
      state === 'announced' && effectiveFrom ? [effectiveFrom.getTime()] : [],
    );
    const items = page.items.map(({ entry }) => entry);
    return this.cached(call, { ...page, items }, Math.min(...announced) - market.nowMs);
  }

  @Serves(routes.record)
  async record(call: CallOf<typeof routes.record>) {
    const { model } = call.params;
    if (!isListed(await this.market.read(), model)) throw unknownModel(model);
    return this.cached(call, await readModelRecord(this.pool, model), Infinity);
  }

  private cached<T extends object>(
    call: Parameters<typeof cachedAnswer>[0],
    answer: T,
    unchangedMs: number,
  ): T {
    // Nobody keeps it past a change that is announced.
    const ageMs = Math.min(this.config.market.priceListAgeMs, unchangedMs);
    return cachedAnswer(call, answer, { ageMs, isForAll: true });
  }
}

function unknownModel(model: string): ApiError {
  return new ApiError('not_found', `There is no model ${model} on the price list.`);
}
