import { createHash } from 'node:crypto';
import type { Family, PriceBook, Unit } from '#pricing/price-book.js';

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
  /** Unix seconds. */
  readonly created: number;
}

/** How a channel's vendor is spoken to: a folder of libs/upstream each. */
export const channelProtocols = [
  'openai-xai',
  'openai',
  'xai',
  'gemini',
  'vertex',
  'anthropic',
  'mesh3d',
  'meshy',
  'fal',
  'replicate',
  'bfl',
  'ark',
] as const;
export type ChannelProtocol = (typeof channelProtocols)[number];

/** One configured upstream. Its key is a secret of the operator: never logged, never sent to a client. */
export interface Channel {
  readonly id: string;
  readonly protocol: ChannelProtocol;
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
  readonly groups: ReadonlySet<string>;
}

export interface Catalog {
  readonly revision: bigint;
  readonly models: ReadonlyMap<string, CatalogModel>;
  readonly channels: readonly Channel[];
  readonly priceBook: PriceBook;
}

/**
 * The channels that serve a model for a group, best first: by priority, then weighted by chance. Each comes with one of
 * its keys, by chance too.
 */
export function channelsFor(catalog: Catalog, request: { model: string; group: string }): Channel[] {
  return catalog.channels
    .filter(
      (channel) => channel.enabled && channel.models.has(request.model) && channel.groups.has(request.group),
    )
    .map((channel) => ({ channel, draw: Math.random() ** (1 / channel.weight) }))
    .sort((a, b) => b.channel.priority - a.channel.priority || b.draw - a.draw)
    .map(({ channel }) => withSomeKey(channel));
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
