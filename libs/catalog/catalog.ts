import { createHash } from 'node:crypto';
import type { Decimal } from '#money/amount.js';
import type { Family, PriceBook, Unit } from '#pricing/price-book.js';
import { inOrder, type Routing } from './channel-order.js';

/** What a model takes; an absent limit does not apply. Seconds are whole. */
export interface ModelLimits {
  readonly maxImages?: number;
  /** Images that a call has to hand over: at least one for a model that only edits. */
  readonly minInputImages?: number;
  readonly defaultSeconds?: number;
  readonly minSeconds?: number;
  readonly maxSeconds?: number;
  readonly resolutions?: readonly string[];
  /** Of videos, `<width>:<height>`. */
  readonly aspectRatios?: readonly string[];
  /** Of videos, `<width>x<height>`: what a client that sends a size may send. */
  readonly sizes?: readonly string[];
  /** Tokens that the model reads and writes at most in one call; of an image model, for one image. */
  readonly maxInputTokens?: number;
  readonly maxOutputTokens?: number;
  /** Answers to one request. */
  readonly maxChoices?: number;
}

export interface CatalogModel {
  readonly id: string;
  readonly family: Family;
  readonly unit: Unit;
  readonly ownedBy: string;
  readonly aliasOf: string | null;
  readonly enabled: boolean;
  readonly limits: ModelLimits;
  /** What decides among its channels; of an alias, that of its model. */
  readonly routing: Routing;
  /** Unix seconds. */
  readonly created: number;
}

/** One configured upstream. Its key is a secret of the operator: never logged, never sent to a client. */
export interface Channel {
  readonly id: string;
  /** How its vendor is spoken to: a name from the table of libs/upstream, or of a later version's. */
  readonly protocol: string;
  readonly baseUrl: string;
  /** The key to use: one of `apiKeys`. As it is stored where nobody opened it. */
  readonly apiKey: string;
  /** At least one. */
  readonly apiKeys: readonly string[];
  /** What the vendor signs its webhooks with, where that is a secret; stored as keys are. */
  readonly webhookSecret: string | null;
  readonly enabled: boolean;
  readonly priority: number;
  readonly weight: number;
  readonly requestTimeoutMs: number;
  /** Files may be copied from loopback and private addresses: only for an upstream of one's own. */
  readonly allowPrivateAddress: boolean;
  /** The upstream answers a repeated create with the same Idempotency-Key with the same task. */
  readonly honoursIdempotency: boolean;
  /** Calls at the same time, in each program; null for no limit. */
  readonly maxConcurrency: number | null;
  /** Our model id -> the upstream's. */
  readonly models: ReadonlyMap<string, string>;
  /** Our model id -> what it takes now, USD: of a call or a second, or of a million tokens in and a million out. */
  readonly costs: ReadonlyMap<string, Decimal>;
  readonly groups: ReadonlySet<string>;
}

export interface Catalog {
  readonly revision: bigint;
  readonly models: ReadonlyMap<string, CatalogModel>;
  readonly channels: readonly Channel[];
  readonly priceBook: PriceBook;
  /** When it was read, by the clock of the database, which decides what a price is. */
  readonly readAtMs: number;
}

export interface RouteRequest {
  readonly model: string;
  /** Absent: of any. */
  readonly group?: string;
  /** How long a channel takes for a model that is no alias; null where nobody knows. */
  readonly latencyMs?: (channelId: string, model: string) => number | null;
  /** As `inOrder` has it. */
  readonly chance?: () => number;
}

/** The channels that serve a model, best first. */
export function routeOf(catalog: Catalog, { model, group, latencyMs, chance }: RouteRequest): Channel[] {
  const { routing = 'priority', aliasOf = null } = catalog.models.get(model) ?? {};
  const known = aliasOf ?? model;
  const figureOf = {
    priority: () => null,
    cost: ({ costs }: Channel) => costs.get(known) ?? null,
    latency: ({ id }: Channel) => wholeOf(latencyMs?.(id, known) ?? null),
  }[routing];
  const serving = catalog.channels
    .filter(({ enabled, models }) => enabled && models.has(model))
    .filter(({ groups }) => group === undefined || groups.has(group));
  return inOrder(serving, { routing, figureOf, chance });
}

function wholeOf(value: number | null): Decimal | null {
  return value === null ? null : { digits: BigInt(value), scale: 0 };
}

/** The same for a group, each with one of its keys by chance. */
export function channelsFor(catalog: Catalog, request: RouteRequest & { group: string }): Channel[] {
  return routeOf(catalog, request).map(withSomeKey);
}

function withSomeKey(channel: Channel): Channel {
  if (channel.apiKeys.length < 2) return channel;
  const apiKey = channel.apiKeys[Math.floor(Math.random() * channel.apiKeys.length)] ?? channel.apiKey;
  return { ...channel, apiKey };
}

/** A mark by which a task remembers the key that created it; it reveals nothing about the key. */
export function keyMark({ apiKey }: Pick<Channel, 'apiKey'>): string {
  return createHash('sha256').update(apiKey).digest('hex').slice(0, 16);
}

/** The channel with the key of that mark; with its first key when there is no mark or the key is gone. */
export function withMarkedKey(channel: Channel, mark: string | null): Channel {
  const apiKey = channel.apiKeys.find((key) => keyMark({ ...channel, apiKey: key }) === mark);
  return apiKey === undefined ? channel : { ...channel, apiKey };
}
