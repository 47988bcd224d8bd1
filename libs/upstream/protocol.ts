import type { Channel } from '#catalog/catalog.js';
import type { ChannelCalls } from './channel-calls.js';
import type { FileBody } from './file-download.js';
import { type ImageBytes, readImageBytes } from './image-bytes.js';
import { type FreeRequest, probe, type ProbeResult } from './health/probe.js';
import type {
  AssetRequest,
  CountedKind,
  CountOutcome,
  CountRequest,
  CreateOutcome,
  ImageEditRequest,
  ImageOutcome,
  ImageRequest,
  NotAccepted,
  PollOutcome,
  RemixRequest,
  StreamKind,
  StreamOutcome,
  StreamRequest,
  UpstreamImage,
  VideoRequest,
} from './outcomes.js';
import { streamHeaders, type StreamRoute } from './stream-route.js';
import type { ChannelWebhook, VendorNotice, VendorWebhooks } from './webhooks/vendor-webhooks.js';
import { writtenForm } from './written-form.js';

/** What a channel can do. A model's family and the path of a call decide what it needs. */
export type Capability =
  | 'images'
  | 'imageEdits'
  | 'maskedEdits'
  | 'videos'
  | 'silentVideos'
  | 'videoRemixes'
  | 'assets3d'
  | `${CountedKind}Count`
  | StreamKind;

export interface CreateOptions {
  /** Makes a repeat safe if the channel supports it. */
  idempotencyKey: string;
  signal: AbortSignal;
  /** Where the vendor may announce the end of the task, if it takes an address with each create. */
  webhookUrl?: string | undefined;
}

/** How the keys of a protocol are written. */
export interface KeyForm {
  /** Why a text is no key, as the end of a sentence that quotes nothing of it; null for a key. */
  fault(text: string): string | null;
  /** A key as it is kept. */
  kept(key: string): string;
}

/** Whether a vendor's videos have sound: as each create asks for it, or always. */
export type VideoSound = 'asked' | 'always';

/**
 * A protocol: a folder, and a line in the table of `adapters.ts`, which also requires `families` of its class. It has
 * the methods for what the vendor offers, and no others. No method throws because of an upstream. The outcome says what
 * happened.
 */
export interface Protocol {
  readonly calls: ChannelCalls;
  /** A free request to the vendor that tests a channel's key. */
  readonly probe: FreeRequest;
  /** Creates of tasks carry a key that makes a repeat safe. Without it, none is sent twice, whatever a channel says. */
  readonly sendsKeys?: boolean;
  /** Signed webhooks, after which a task is polled at once. */
  readonly webhooks?: VendorWebhooks;
  readonly streams?: Partial<Record<StreamKind, StreamRoute>>;
  /** Counts the tokens of a message or of contents without answering them, for free. */
  countTokens?(channel: Channel, request: CountRequest, signal: AbortSignal): Promise<CountOutcome>;
  /** Requests images and waits for them. The signal is the request's time limit. */
  generateImages?(channel: Channel, request: ImageRequest, signal: AbortSignal): Promise<ImageOutcome>;
  editImages?(channel: Channel, request: ImageEditRequest, signal: AbortSignal): Promise<ImageOutcome>;
  /** Edits change only what the mask leaves open. Without this, everything would be repainted, and paid for. */
  readonly takesMasks?: boolean;
  createVideo?(channel: Channel, request: VideoRequest, options: CreateOptions): Promise<CreateOutcome>;
  /** Requests a video like an earlier one of the same channel and key. */
  remixVideo?(channel: Channel, request: RemixRequest, options: CreateOptions): Promise<CreateOutcome>;
  pollTask?(channel: Channel, upstreamId: string, signal: AbortSignal): Promise<PollOutcome>;
  /** Opens the file of a finished task that has no address of its own. @throws FileUnavailable */
  openFile?(
    channel: Channel,
    fileUrl: string,
    options: { signal: AbortSignal; maxBytes: number },
  ): Promise<FileBody>;
  /** Tells the vendor that a task is no longer wanted. It is free, and the work may still be done and billed. */
  cancelTask?(channel: Channel, upstreamId: string): Promise<void>;
  createAsset?(channel: Channel, request: AssetRequest, options: CreateOptions): Promise<CreateOutcome>;
}

/**
 * A protocol as programs see it: every call can be made. One that the vendor does not offer is answered with
 * `not_accepted`, which is true and lets another channel be tried. Choose by `capabilities` first.
 */
export class UpstreamAdapter {
  readonly capabilities: ReadonlySet<Capability>;

  constructor(
    private readonly name: string,
    private readonly protocol: Protocol,
    sound?: VideoSound,
  ) {
    this.capabilities = new Set(capabilitiesOf(protocol, sound));
  }

  async generateImages(channel: Channel, request: ImageRequest, signal: AbortSignal): Promise<ImageOutcome> {
    return this.protocol.generateImages?.(channel, request, signal) ?? this.lacking('images');
  }

  async editImages(channel: Channel, request: ImageEditRequest, signal: AbortSignal): Promise<ImageOutcome> {
    return this.protocol.editImages?.(channel, request, signal) ?? this.lacking('imageEdits');
  }

  async countTokens(channel: Channel, request: CountRequest, signal: AbortSignal): Promise<CountOutcome> {
    return this.protocol.countTokens?.(channel, request, signal) ?? this.lacking(`${request.kind}Count`);
  }

  async createVideo(channel: Channel, request: VideoRequest, options: CreateOptions): Promise<CreateOutcome> {
    const { remixOf, prompt } = request;
    if (remixOf !== undefined) {
      const remix = this.protocol.remixVideo?.(channel, { remixOf, prompt }, options);
      return remix ?? this.lacking('videoRemixes');
    }
    return this.protocol.createVideo?.(channel, request, options) ?? this.lacking('videos');
  }

  async pollTask(channel: Channel, upstreamId: string, signal: AbortSignal): Promise<PollOutcome> {
    const answered = this.protocol.pollTask?.(channel, upstreamId, signal);
    return answered ?? { kind: 'no_answer', reason: `the protocol ${this.name} has no tasks`, of: 'task' };
  }

  async createAsset(channel: Channel, request: AssetRequest, options: CreateOptions): Promise<CreateOutcome> {
    return this.protocol.createAsset?.(channel, request, options) ?? this.lacking('assets3d');
  }

  /**
   * Sends a pass-through call and returns its answer unread. The channel's `requestTimeoutMs` limits the wait for the
   * head and each later silence. Only the signal limits the whole. It also ends the body.
   */
  async openStream(channel: Channel, request: StreamRequest, signal: AbortSignal): Promise<StreamOutcome> {
    const route = this.protocol.streams?.[request.kind];
    if (!route) return this.lacking(request.kind);
    const body = { ...request.body, model: request.model };
    const headers = streamHeaders(route, request);
    const path = typeof route.path === 'string' ? route.path : route.path(body, channel);
    const fields = route.prepare?.(body) ?? body;
    const { file, pictures } = request;
    const form = pictures && route.form?.(fields, pictures);
    const written = form ?? (file ? writtenForm(fields, [['file', file]]) : { json: fields });
    return this.protocol.calls.open(channel, path, { body: written, headers, signal });
  }

  /** Opens the file of a finished task, whose address its poll gave. @throws FileUnavailable */
  openFile(
    channel: Channel,
    fileUrl: string,
    options: { signal: AbortSignal; maxBytes: number },
  ): Promise<FileBody> {
    const { protocol } = this;
    return protocol.openFile
      ? protocol.openFile(channel, fileUrl, options)
      : protocol.calls.openFile(channel, fileUrl, options);
  }

  /** The bytes of a delivered image and their actual type. @throws FileUnavailable */
  readImage(channel: Channel, image: UpstreamImage, signal: AbortSignal): Promise<ImageBytes> {
    return readImageBytes(this.protocol.calls, channel, { ...image, signal });
  }

  /** Sends the vendor a free request that needs the key. */
  probe(channel: Channel, signal: AbortSignal): Promise<ProbeResult> {
    return probe(this.protocol.calls, channel, { ...this.protocol.probe, signal });
  }

  /** Cancels a task at the vendor, if it supports that. @returns whether it did */
  async cancelTask(channel: Channel, upstreamId: string): Promise<boolean> {
    if (!this.protocol.cancelTask) return false;
    await this.protocol.cancelTask(channel, upstreamId);
    return true;
  }

  /** Its vendor signs webhooks with a secret that the channel has to know. */
  get needsWebhookSecret(): boolean {
    return this.protocol.webhooks?.needsSecret === true;
  }

  /** Whether webhooks of a channel can be checked. */
  takesWebhooks(channel: Channel): boolean {
    return (
      this.protocol.webhooks !== undefined && (channel.webhookSecret !== null || !this.needsWebhookSecret)
    );
  }

  /** The content of a webhook to the address of a channel; null if its vendor did not sign it, or it is old. */
  async readWebhook(channel: Channel, webhook: ChannelWebhook): Promise<VendorNotice | null> {
    return this.protocol.webhooks?.read(channel, webhook) ?? null;
  }

  /** Whether a create of a task may be repeated with its key. Otherwise, a second one could be a second paid job. */
  mayRepeat(channel: Channel): boolean {
    return channel.honoursIdempotency && this.protocol.sendsKeys === true;
  }

  private lacking(capability: Capability): NotAccepted {
    const reason = `the protocol ${this.name} has no ${capability}`;
    return { kind: 'not_accepted', reason, upstreamStatus: null };
  }
}

const COUNTED: readonly CountedKind[] = ['messages', 'contents'];

function capabilitiesOf(protocol: Protocol, sound?: VideoSound): Capability[] {
  const capabilities: Capability[] = Object.keys(protocol.streams ?? {}) as StreamKind[];
  for (const kind of COUNTED) {
    if (protocol.countTokens && protocol.streams?.[kind]) capabilities.push(`${kind}Count`);
  }
  if (protocol.generateImages) capabilities.push('images');
  if (protocol.editImages) capabilities.push('imageEdits');
  if (protocol.editImages && protocol.takesMasks) capabilities.push('maskedEdits');
  if (protocol.createVideo && protocol.pollTask) capabilities.push('videos');
  if (protocol.createVideo && protocol.pollTask && sound === 'asked') capabilities.push('silentVideos');
  if (protocol.remixVideo && protocol.pollTask) capabilities.push('videoRemixes');
  if (protocol.createAsset && protocol.pollTask) capabilities.push('assets3d');
  return capabilities;
}
