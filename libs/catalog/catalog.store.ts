import { accessOf, type ServedModel } from '#groups/access.js';
import { groupRuleOf } from '#groups/terms.js';
import { type Decimal, parseDecimal } from '#money/amount.js';
import type { Price, PriceBook, PricedModel } from '#pricing/price-book.js';
import type { Version } from '#groups/version.js';
import { priceOf, type RateText } from '#pricing/price-text.js';
import { type LineKind, namedByLine } from '#pricing/token-kinds.js';
import type { Catalog, CatalogModel, Channel } from './catalog.js';

/** A pool or a client of `pg`. */
export interface Queryable {
  query(text: string, values?: unknown[]): Promise<{ rows: Record<string, never>[] }>;
}

/** One statement, hence one snapshot of everything that a price depends on. */
const PRICE_BOOK_SQL = `
SELECT
  (SELECT revision::text FROM catalog_revision) AS revision,
  (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS "readAtMs",
  (SELECT coalesce(json_agg(json_build_object('id', id, 'family', family, 'unit', unit, 'ownedBy', owned_by,
      'aliasOf', alias_of, 'enabled', enabled, 'limits', limits, 'created', floor(extract(epoch FROM created_at)),
      'routing', coalesce((SELECT routing FROM models named WHERE named.id = m.alias_of), routing))), '[]')
    FROM models m) AS models,
  (SELECT coalesce(json_agg(json_build_object('group', group_name, 'model', model_id)), '[]') FROM group_models) AS access,
  (SELECT coalesce(json_agg(json_build_object('id', id::text, 'subject', model_id, 'value', trim_scale(unit_price)::text,
      'input', trim_scale(input_price)::text, 'cachedInput', trim_scale(cached_input_price)::text,
      'output', trim_scale(output_price)::text, 'cacheWrite', trim_scale(cache_write_price)::text,
      'cacheWrite1h', trim_scale(cache_write_1h_price)::text,
      'media', media_prices, 'rates', rates, 'from', CASE WHEN isfinite(effective_from) THEN extract(epoch FROM effective_from) * 1000 END)
      ORDER BY effective_from), '[]') FROM price_versions) AS prices,
  (SELECT coalesce(json_agg(json_build_object('id', id::text, 'subject', group_name, 'value', trim_scale(multiplier)::text,
      'from', CASE WHEN isfinite(effective_from) THEN extract(epoch FROM effective_from) * 1000 END)
      ORDER BY effective_from), '[]') FROM multiplier_versions) AS multipliers,
  (SELECT coalesce(json_agg(json_build_object('id', id::text, 'subject', group_name, 'value', trim_scale(unit_price)::text,
      'from', CASE WHEN isfinite(effective_from) THEN extract(epoch FROM effective_from) * 1000 END)
      ORDER BY effective_from), '[]') FROM group_rule_versions) AS rules`;

const CHANNELS_SQL = `
SELECT c.id, c.protocol, c.base_url AS "baseUrl", c.api_key AS "apiKey", c.enabled, c.priority, c.weight,
  c.request_timeout_ms AS "requestTimeoutMs", c.allow_private_address AS "allowPrivateAddress",
  c.honours_idempotency AS "honoursIdempotency", c.max_concurrency AS "maxConcurrency",
  c.api_key || c.further_api_keys AS "apiKeys", c.webhook_secret AS "webhookSecret",
  (SELECT coalesce(json_object_agg(model_id, upstream_model), '{}') FROM channel_models m WHERE m.channel_id = c.id) AS models,
  (SELECT coalesce(json_agg(group_name), '[]') FROM channel_groups g WHERE g.channel_id = c.id) AS groups,
  (SELECT coalesce(json_object_agg(model_id, trim_scale(coalesce(unit_cost, input_cost + coalesce((media_costs ->>
      CASE family WHEN 'image' THEN 'image_output' WHEN 'speech' THEN 'audio_output' END)::numeric, output_cost)))::text), '{}')
    FROM upstream_cost_times t JOIN models ON models.id = model_id WHERE t.channel_id = c.id AND effective_from <= now() AND until > now()
      AND num_nonnulls(unit_cost, input_cost) > 0) AS costs
FROM channels c ORDER BY c.id`;

interface VersionRow {
  id: string;
  subject: string;
  value: string | null;
  from: number | null;
  /** Prices of a million tokens. */
  input?: string | null;
  cachedInput?: string | null;
  output?: string | null;
  cacheWrite?: string | null;
  cacheWrite1h?: string | null;
  /** Of images and sound, by the kind of line. */
  media?: Partial<Record<LineKind, string>> | null;
  rates?: RateText[] | null;
}

interface PriceBookRow {
  revision: string;
  readAtMs: number;
  models: CatalogModel[];
  access: { group: string; model: string }[];
  prices: VersionRow[];
  multipliers: VersionRow[];
  rules: VersionRow[];
}

interface ChannelRow extends Omit<Channel, 'models' | 'costs' | 'groups'> {
  models: Record<string, string>;
  costs: Record<string, string>;
  groups: string[];
}

/** Reads every version and model as of the statement's snapshot: what billing prices a hold from. */
export async function loadPriceBook(database: Queryable): Promise<PriceBook> {
  const { rows } = await database.query(PRICE_BOOK_SQL);
  return toPriceBook(rows[0] as unknown as PriceBookRow);
}

/** Reads the whole catalog with its channels, whose keys are as they are stored. */
export async function loadCatalog(database: Queryable): Promise<Catalog> {
  // The revision is read first: a channel that changes in between has a later one, by which readers find it.
  const row = (await database.query(PRICE_BOOK_SQL)).rows[0] as unknown as PriceBookRow;
  const channels = (await database.query(CHANNELS_SQL)).rows as unknown as ChannelRow[];
  const models = row.models.map((model): [string, CatalogModel] => [model.id, model]);
  return {
    revision: BigInt(row.revision),
    models: new Map(models),
    channels: channels.map((channel) => ({
      ...channel,
      models: new Map(Object.entries(channel.models)),
      costs: new Map(Object.entries(channel.costs).map(([model, cost]) => [model, parseDecimal(cost)])),
      groups: new Set(channel.groups),
    })),
    priceBook: toPriceBook(row),
    readAtMs: row.readAtMs,
  };
}

function toPriceBook(row: PriceBookRow): PriceBook {
  const decimal = (version: VersionRow): Decimal | null =>
    version.value === null ? null : parseDecimal(version.value);
  return {
    revision: BigInt(row.revision),
    models: new Map(
      row.models.map((model): [string, PricedModel] => [
        model.id,
        { ...model, pricedAs: model.aliasOf ?? model.id },
      ]),
    ),
    prices: bySubject(row.prices, toPrice),
    multipliers: bySubject(row.multipliers, decimal),
    groupRules: bySubject(row.rules, ({ value }) => groupRuleOf(value)),
    access: accessOf(row.access, servedModel(row.models)),
  };
}

/** What decides which groups may serve a model: an alias is what its model is, too. */
function servedModel(models: PriceBookRow['models']): (id: string) => ServedModel | undefined {
  const known = new Map(models.map((model) => [model.id, model]));
  return (id) => {
    const model = known.get(id);
    const target = known.get(model?.aliasOf ?? id);
    return model && target && { family: model.family, owners: [model.ownedBy, target.ownedBy] };
  };
}

function toPrice(version: VersionRow): Price | null {
  const { value, input, cachedInput, output } = version;
  if (value !== null) return priceOf({ unitPrice: value, rates: version.rates ?? undefined });
  if (!input || !cachedInput || !output) return null;
  const writes = {
    cacheWrite: version.cacheWrite ?? undefined,
    cacheWrite1h: version.cacheWrite1h ?? undefined,
  };
  return priceOf({ input, cachedInput, output, ...writes, ...namedByLine(version.media) });
}

function bySubject<T>(rows: VersionRow[], value: (row: VersionRow) => T | null): Map<string, Version<T>[]> {
  const versions = new Map<string, Version<T>[]>();
  for (const row of rows) {
    const list = versions.get(row.subject) ?? [];
    list.push({ id: BigInt(row.id), effectiveFromMs: row.from ?? -Infinity, value: value(row) });
    versions.set(row.subject, list);
  }
  return versions;
}
