import type pg from 'pg';
import type { Catalog, CatalogModel } from '#catalog/catalog.js';
import { groupsOfAccount, openGroupNames } from '#groups/account-groups.js';
import { takesFixedPrice } from '#groups/terms.js';
import { loadCatalog } from '#catalog/catalog.store.js';
import { limitsOf } from '#catalog/model-limits.js';
import { multiply, plainDecimal } from '#money/amount.js';
import type { Family, Price } from '#pricing/price-book.js';
import { versionAt, type Version } from '#groups/version.js';
import { changeOf } from '#marketplace/prices/price-change.js';
import { priceText } from '#pricing/price-text.js';
import { type Terms, termsAt } from '#pricing/terms.js';
import { hindranceOf } from './offer.js';
import type { HistoryEntry, ListedModel } from './price-list.view.js';

export interface PriceFilter {
  family?: Family;
  vendor?: string;
  group?: string;
  text?: string;
}

/** The catalog at one instant of the database's clock, which also prices holds. */
export interface Market {
  readonly catalog: Catalog;
  /** The groups in which everyone can create keys. */
  readonly openGroups: ReadonlySet<string>;
  readonly nowMs: number;
}

/** The price list for one viewer. */
export interface ViewedMarket extends Market {
  /** The groups in which they may create keys. They do not see the prices of others. */
  readonly groups: ReadonlySet<string>;
}

type CatalogAt = Pick<Market, 'catalog' | 'nowMs'>;

const FIND_REVISION = `SELECT revision, (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS "nowMs"
  FROM catalog_revision`;

/** The catalog for readers. It is read again only after a committed change. */
export class MarketReader {
  private known: Omit<Market, 'nowMs'> | undefined;

  constructor(private readonly pool: pg.Pool) {}

  async read(): Promise<Market> {
    const { rows } = await this.pool.query<{ revision: bigint; nowMs: number }>(FIND_REVISION);
    const { revision, nowMs } = rows[0]!;
    if (this.known?.catalog.revision !== revision) this.known = await this.load();
    return { ...this.known, nowMs };
  }

  /** For an account, or for everyone if there is none. */
  async readFor(accountId: string | null): Promise<ViewedMarket> {
    const market = await this.read();
    if (accountId === null) return { ...market, groups: market.openGroups };
    const own = await groupsOfAccount(this.pool, accountId);
    return { ...market, groups: new Set(own.map(({ group }) => group)) };
  }

  /** For staff. */
  async readWhole(): Promise<ViewedMarket> {
    const market = await this.read();
    return { ...market, groups: new Set(market.catalog.priceBook.access.keys()) };
  }

  /** Groups are read last: if they change meanwhile, their revision differs, and they are read again. */
  private async load(): Promise<Omit<Market, 'nowMs'>> {
    const catalog = await loadCatalog(this.pool);
    return { catalog, openGroups: await openGroupNames(this.pool) };
  }
}

/**
 * What is for sale now, by family, vendor and name: in each group, only models with a price and a channel, and overall,
 * only models that some group has.
 */
export function listPrices(market: ViewedMarket, filter: PriceFilter): ListedModel[] {
  return pricedModels(market, filter)
    .map((model) => ({ ...model, groups: model.groups.filter(({ available }) => available) }))
    .filter(({ groups }) => groups.length > 0)
    .filter(({ groups }) => !filter.group || groups.some(({ group }) => group === filter.group));
}

/** Whether that list has a model. */
export function isOnPriceList({ catalog, groups, nowMs }: ViewedMarket, id: string): boolean {
  const model = catalog.models.get(id);
  if (!model) return false;
  return [...groups].some((group) => hindranceOf(catalog, { model, group, atMs: nowMs }) === null);
}

/** Models with a price in some group, whether or not a channel serves them. */
export function pricedModels(market: ViewedMarket, filter: PriceFilter): ListedModel[] {
  return [...market.catalog.models.values()]
    .filter((model) => matches(model, filter))
    .map((model) => listed(model, market))
    .filter((model) => model.groups.length > 0)
    .sort((a, b) => compareKeys(sortKey(a), sortKey(b)));
}

function pricedModel(market: ViewedMarket, id: string): ListedModel | null {
  const model = market.catalog.models.get(id);
  if (!model?.enabled) return null;
  const found = listed(model, market);
  return found.groups.length > 0 ? found : null;
}

/** The sort key of the list, which its pages continue after. */
export function sortKey({ family, vendor, id }: Pick<ListedModel, 'family' | 'vendor' | 'id'>): string[] {
  return [family, vendor, id];
}

export function compareKeys(a: readonly string[], b: readonly string[]): number {
  const at = a.findIndex((part, index) => part !== b[index]);
  return at < 0 ? 0 : a[at]! < b[at]! ? -1 : 1;
}

function matches(model: CatalogModel, { family, vendor, text }: PriceFilter): boolean {
  if (!model.enabled || (family && model.family !== family) || (vendor && model.ownedBy !== vendor))
    return false;
  return !text || `${model.id} ${model.ownedBy}`.toLowerCase().includes(text.toLowerCase());
}

function listed(model: CatalogModel, { catalog, groups, nowMs }: ViewedMarket): ListedModel {
  const { id, family, ownedBy: vendor, unit, aliasOf } = model;
  const terms = [...groups].sort().flatMap((group) => {
    const found = termsAt(catalog.priceBook, { model: id, group, atMs: nowMs });
    return typeof found === 'string' ? [] : [{ group, terms: found }];
  });
  const ownId = aliasOf ?? id;
  const listPrice = versionAt(catalog.priceBook.prices.get(ownId), nowMs)?.value;
  const priced = { model: ownId, groups: terms.map(({ group }) => group) };
  const ofGroups = terms.map(({ group, terms: found }) => ({
    ...listedGroup(group, found),
    available: hindranceOf(catalog, { model, group, atMs: nowMs }) === null,
  }));
  return {
    id,
    family,
    vendor,
    unit: unit === 'token' ? 'million_tokens' : unit,
    aliasOf,
    listPrice: listPrice ? priceText(listPrice) : null,
    groups: ofGroups,
    limits: shownLimits(model),
    available: ofGroups.some(({ available }) => available),
    nextChangeAt: nextChange({ catalog, nowMs }, priced),
  };
}

/** The length of a video is limited for every model, with or without limits of its own. */
function shownLimits(model: CatalogModel): CatalogModel['limits'] {
  if (model.family !== 'video') return model.limits;
  const { defaultSeconds, minSeconds, maxSeconds } = limitsOf(model);
  return { ...model.limits, defaultSeconds, minSeconds, maxSeconds };
}

function listedGroup(
  group: string,
  { rule, price, multiplier }: Terms,
): Omit<ListedModel['groups'][number], 'available'> {
  return {
    group,
    rule,
    multiplier: plainDecimal(multiplier),
    price: priceText(price, (unitPrice) => multiply(unitPrice, multiplier)),
  };
}

/** The start of the next announced version that changes a price in these groups. */
export function nextChange(
  { catalog, nowMs }: CatalogAt,
  { model, groups }: { model: string; groups: readonly string[] },
): Date | null {
  const { prices, multipliers, groupRules } = catalog.priceBook;
  const versions = [
    ...(prices.get(model) ?? []),
    ...groups.flatMap((group) => [...(multipliers.get(group) ?? []), ...(groupRules.get(group) ?? [])]),
  ];
  const later = versions.map(({ effectiveFromMs }) => effectiveFromMs).filter((fromMs) => fromMs > nowMs);
  return later.length === 0 ? null : new Date(Math.min(...later));
}

/** Every past and future version of a model's price, newest first; null for a model without a price. */
export function priceHistory(market: ViewedMarket, id: string): HistoryEntry[] | null {
  const model = pricedModel(market, id);
  if (!model) return null;
  const { prices } = market.catalog.priceBook;
  const priced = model.aliasOf ?? id;
  const entries = [
    ...entriesOf(market, prices.get(priced), (value: Price | null) => ({
      ...EMPTY,
      price: value && priceText(value),
    })),
    ...model.groups.flatMap(({ group }) => [
      ...multiplierHistory(market, group),
      ...(takesFixedPrice(model.unit) ? ruleHistory(market, group) : []),
    ]),
  ];
  return entries.sort((a, b) => b.fromMs - a.fromMs || b.order - a.order).map(({ entry }) => entry);
}

function multiplierHistory(market: ViewedMarket, group: string) {
  return entriesOf(market, market.catalog.priceBook.multipliers.get(group), (value) => ({
    ...EMPTY,
    kind: 'multiplier' as const,
    group,
    multiplier: value && plainDecimal(value),
  }));
}

/** Of the group's fixed price; the entry of a version without one has no price. */
function ruleHistory(market: ViewedMarket, group: string) {
  return entriesOf(market, market.catalog.priceBook.groupRules.get(group), (value) => {
    const rule = changeOf({ kind: 'rule', group }, value);
    const price =
      rule.kind === 'rule' && rule.rule === 'fixed_per_call' ? { unitPrice: rule.unitPrice } : null;
    return { ...EMPTY, kind: 'rule' as const, group, price };
  });
}

type Shown = Pick<HistoryEntry, 'kind' | 'group' | 'price' | 'multiplier'>;
const EMPTY: Shown = { kind: 'price', group: null, price: null, multiplier: null };

function entriesOf<T>(
  { nowMs }: Market,
  versions: readonly Version<T>[] | undefined,
  show: (value: T | null) => Shown,
): { fromMs: number; order: number; entry: HistoryEntry }[] {
  const inForce = versionAt(versions, nowMs);
  return (versions ?? []).map((version) => {
    const { effectiveFromMs: fromMs, id, value } = version;
    const state = version === inForce ? 'in_force' : fromMs > nowMs ? 'announced' : 'past';
    const effectiveFrom = Number.isFinite(fromMs) ? new Date(fromMs) : null;
    return { fromMs, order: Number(id), entry: { ...show(value), effectiveFrom, state } };
  });
}
