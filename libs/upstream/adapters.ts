import type { Channel } from '#catalog/catalog.js';
import type { Family } from '#pricing/price-book.js';
import { AnthropicProtocol } from './anthropic/anthropic.protocol.js';
import { ArkProtocol } from './ark/ark.protocol.js';
import { BflProtocol } from './bfl/bfl.protocol.js';
import { UpstreamConnections } from './connections.js';
import { type FileOptions, openFile, readWhole } from './file-download.js';
import { FalProtocol } from './fal/fal.protocol.js';
import { GeminiProtocol } from './gemini/gemini.protocol.js';
import type { ImageBytes } from './image-bytes.js';
import { Mesh3dProtocol } from './mesh3d/mesh3d.protocol.js';
import { MeshyProtocol } from './meshy/meshy.protocol.js';
import { OpenAiXaiProtocol } from './openai-xai/openai-xai.protocol.js';
import { OpenAiProtocol } from './openai/openai.protocol.js';
import type { UpstreamImage } from './outcomes.js';
import { failedProbe, type KeyTrial, probeKeys, type ProbeResult } from './health/probe.js';
import {
  type Capability,
  type KeyForm,
  type Protocol,
  UpstreamAdapter,
  type VideoSound,
} from './protocol.js';
import { ReplicateProtocol } from './replicate/replicate.protocol.js';
import { VertexProtocol } from './vertex/vertex.protocol.js';
import type { ChannelWebhook, VendorNotice } from './webhooks/vendor-webhooks.js';
import { XaiProtocol } from './xai/xai.protocol.js';

interface ProtocolClass {
  /** The types of models that it supports. A spec compares them with its methods. */
  readonly families: readonly Family[];
  /** Whether its videos have sound, if it makes any. */
  readonly sound?: VideoSound;
  /** How its keys are written; by default, as one word. */
  readonly keyForm?: KeyForm;
  new (connections: UpstreamConnections): Protocol;
}

/** Every protocol, by the name in a channel. */
const protocols = {
  'openai-xai': OpenAiXaiProtocol,
  openai: OpenAiProtocol,
  xai: XaiProtocol,
  gemini: GeminiProtocol,
  vertex: VertexProtocol,
  anthropic: AnthropicProtocol,
  mesh3d: Mesh3dProtocol,
  meshy: MeshyProtocol,
  fal: FalProtocol,
  replicate: ReplicateProtocol,
  bfl: BflProtocol,
  ark: ArkProtocol,
} satisfies Record<string, ProtocolClass>;

export type ChannelProtocol = keyof typeof protocols;

export const protocolNames = Object.keys(protocols) as ChannelProtocol[];

const classes = new Map<string, ProtocolClass>(Object.entries(protocols));

/** Whether a protocol supports models of a type. False for a protocol that this version does not know. */
export function canServe(protocol: string, family: Family): boolean {
  return classes.get(protocol)?.families.includes(family) ?? false;
}

/** Whether the videos of a protocol have sound; undefined if it makes none. */
export function soundOfVideos(protocol: string): VideoSound | undefined {
  return classes.get(protocol)?.sound;
}

const PLAIN_KEY = /^[\x21-\x7e]{1,500}$/;
const plainKeys: KeyForm = {
  fault: (text) =>
    PLAIN_KEY.test(text) ? null : 'must be printable, without blanks, and of at most 500 characters',
  kept: (key) => key,
};

export function keyFormOf(protocol: ChannelProtocol): KeyForm {
  return classes.get(protocol)?.keyForm ?? plainKeys;
}

/** The adapters of every protocol over shared connections. One per program, closed at its end. */
export class Upstreams {
  private readonly connections = new UpstreamConnections();
  private readonly adapters = new Map(
    [...classes].map(([name, ProtocolOf]): [string, UpstreamAdapter] => [
      name,
      new UpstreamAdapter(name, new ProtocolOf(this.connections), ProtocolOf.sound),
    ]),
  );

  /** @throws Error for a protocol that this version does not know, because the database is ahead of the program */
  adapterFor(protocol: string): UpstreamAdapter {
    const adapter = this.adapters.get(protocol);
    if (!adapter) throw new Error(`This version knows no protocol ${protocol}.`);
    return adapter;
  }

  /** The channels whose vendor offers what a call needs, in the same order, each with a key that its vendor accepts. */
  serving(channels: readonly Channel[], capability: Capability): Channel[] {
    const able = channels.filter(({ protocol }) => this.adapters.get(protocol)?.capabilities.has(capability));
    return able.map((channel) => this.connections.keyRests.withRested(channel));
  }

  /** Tests a channel with each of its keys. Never throws. */
  probeKeys(channel: Channel, timeoutMs: number): Promise<KeyTrial[]> {
    return probeKeys(channel, timeoutMs, (each, signal) => this.ask(each, signal));
  }

  /** Sends the vendor behind a channel a free request. Never throws. */
  async probe(channel: Channel, timeoutMs: number): Promise<ProbeResult> {
    const limited = { ...channel, requestTimeoutMs: timeoutMs };
    return this.ask(limited, AbortSignal.timeout(timeoutMs));
  }

  /**
   * The content of a webhook to the address of a channel; null if its vendor did not sign it, or this version does not
   * know the vendor.
   */
  async readWebhook(channel: Channel, webhook: ChannelWebhook): Promise<VendorNotice | null> {
    return this.adapters.get(channel.protocol)?.readWebhook(channel, webhook) ?? null;
  }

  /** The bytes of a delivered image and their actual type. @throws FileUnavailable */
  fetchImage(channel: Channel, image: UpstreamImage, signal: AbortSignal): Promise<ImageBytes> {
    return this.adapterFor(channel.protocol).readImage(channel, image, signal);
  }

  /**
   * The bytes at an address that a client gave, requested without any channel's key.
   * @throws FileUnavailable, and what `onBytes` throws
   */
  async fetchAddress(
    url: URL,
    options: Omit<FileOptions, 'credentials'> & { onBytes?: (bytes: number) => void },
  ): Promise<Buffer> {
    const { body } = await openFile(this.connections, url.href, options);
    return readWhole(body, options.maxBytes, options.onBytes);
  }

  /** Breaks every connection. Calls in progress end as `unknown` or `no_answer`. */
  close(): Promise<void> {
    return this.connections.close();
  }

  private async ask(channel: Channel, signal: AbortSignal): Promise<ProbeResult> {
    const adapter = this.adapters.get(channel.protocol);
    if (adapter) return adapter.probe(channel, signal);
    return failedProbe('unknown_protocol', { path: '-', status: null, about: channel.protocol });
  }
}
