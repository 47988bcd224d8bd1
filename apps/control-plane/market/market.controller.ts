import { Controller } from '@nestjs/common';
import { ApiError } from '#platform/errors.js';
import { pageFrom, readCursor } from '#platform/http/page.js';
import {
  compareKeys,
  isOnPriceList,
  listPrices,
  MarketReader,
  priceHistory,
  sortKey,
  type ViewedMarket,
} from '#marketplace/price-list.js';
import { readModelRecord } from '#usage/model-days.js';
import type { HistoryEntry } from '#marketplace/price-list.view.js';
import { Using } from '#platform/wiring.js';
import { CONTROL_PLANE_CONFIG, POOL } from '../control-plane.tokens.js';
import { accountSeen, type CallSession } from '../http/call-session.js';
import { cachedAnswer } from '../http/cached-answer.js';
import { type CallOf, Serves } from '../http/route.js';
import { marketRoutes as routes } from './market.routes.js';

@Controller()
export class MarketController extends Using({
  pool: POOL,
  market: MarketReader,
  config: CONTROL_PLANE_CONFIG,
}) {
  @Serves(routes.prices)
  async prices(call: CallOf<typeof routes.prices>) {
    const { limit, cursor, ...filter } = call.query;
    const after = readCursor(cursor, 3);
    const market = await this.seenBy(call);
    const models = listPrices(market, filter);
    const from = after ? models.filter((model) => compareKeys(sortKey(model), after) > 0) : models;
    const page = pageFrom(from.slice(0, limit + 1), limit, sortKey);
    const changes = models.flatMap(({ nextChangeAt }) => (nextChangeAt ? [nextChangeAt.getTime()] : []));
    return this.cached(call, page, { market, changesAtMs: Math.min(...changes) });
  }

  @Serves(routes.history)
  async history(call: CallOf<typeof routes.history>) {
    const market = await this.seenBy(call);
    const entries = historyOf(market, call.params.model);
    const announced = entries.flatMap(({ state, effectiveFrom }) =>
      state === 'announced' && effectiveFrom ? [effectiveFrom.getTime()] : [],
    );
    return this.cached(call, historyPage(entries, call.query), {
      market,
      changesAtMs: Math.min(...announced),
    });
  }

  @Serves(routes.wholeHistory)
  async wholeHistory({ params, query }: CallOf<typeof routes.wholeHistory>) {
    return historyPage(historyOf(await this.market.readWhole(), params.model), query);
  }

  @Serves(routes.record)
  async record(call: CallOf<typeof routes.record>) {
    const { model } = call.params;
    const market = await this.seenBy(call);
    if (!isOnPriceList(market, model)) throw unknownModel(model);
    return this.cached(call, await readModelRecord(this.pool, model), { market, changesAtMs: Infinity });
  }

  private seenBy({ session }: { session: CallSession | null }): Promise<ViewedMarket> {
    return this.market.readFor(accountSeen(session));
  }

  private cached<T extends object>(
    call: Parameters<typeof cachedAnswer>[0],
    answer: T,
    { market: { groups, openGroups, nowMs }, changesAtMs }: { market: ViewedMarket; changesAtMs: number },
  ): T {
    // No cache keeps it beyond a scheduled change.
    const ageMs = Math.min(this.config.market.priceListAgeMs, changesAtMs - nowMs);
    const isForAll = [...groups].every((group) => openGroups.has(group));
    return cachedAnswer(call, answer, { ageMs, isForAll });
  }
}

/** @throws ApiError not_found */
function historyOf(market: ViewedMarket, model: string): HistoryEntry[] {
  const entries = priceHistory(market, model);
  if (!entries) throw unknownModel(model);
  return entries;
}

/** Older entries never change and newer ones come before them, so a page continues after a count from the end. */
function historyPage(
  entries: HistoryEntry[],
  { limit, cursor }: { limit: number; cursor?: string | undefined },
) {
  const left = Number(readCursor(cursor, 1, /^\d{1,9}$/)?.[0] ?? entries.length);
  const numbered = entries.map((entry, at) => ({ entry, left: entries.length - at - 1 }));
  const rest = numbered.filter((each) => each.left < left).slice(0, limit + 1);
  const page = pageFrom(rest, limit, (each) => [String(each.left)]);
  return { ...page, items: page.items.map(({ entry }) => entry) };
}

function unknownModel(model: string): ApiError {
  return new ApiError('not_found', `There is no model ${model} on the price list.`);
}
