import type { Channel } from '#catalog/catalog.js';
import { asObject, readCreated, readImages } from '../answers.js';
import { toAspectRatio, toResolution, toSize } from '../aspect-ratio.js';
import { bearer, ChannelCalls } from '../channel-calls.js';
import type { UpstreamConnections } from '../connections.js';
import type {
  CreateOutcome,
  ImageEditRequest,
  ImageOutcome,
  ImageRequest,
  PollOutcome,
  RemixRequest,
  VideoRequest,
} from '../outcomes.js';
import type { CreateOptions, Protocol } from '../protocol.js';
import type { StreamRoute } from '../stream-route.js';
import { tokensOfImages } from '../usage/image-usage.js';
import { StandardWebhooks } from '../webhooks/vendor-webhooks.js';
import { editForm } from './edit-form.js';
import { remixAtOpenAi } from './remix.js';
import { pollVideoByPath } from './video-poll.js';

/** The pass-through calls of OpenAI, and of vendors with the same paths. */
export const openAiStreams = {
  chat: { path: '/v1/chat/completions', prepare: withUsage },
  // Otherwise, the vendor stores the answer, and anyone with the channel's key and its id can read it.
  responses: { path: '/v1/responses', prepare: (body) => ({ ...body, store: false }) },
  speech: { path: '/v1/audio/speech' },
  embeddings: { path: '/v1/embeddings' },
  transcription: { path: '/v1/audio/transcriptions' },
  translation: { path: '/v1/audio/translations' },
} satisfies Protocol['streams'];

/** A streamed chat reports its usage only on request, in a last chunk that `isUsageOnly` recognises. */
function withUsage(body: Record<string, unknown>): ReturnType<NonNullable<StreamRoute['prepare']>> {
  if (body['stream'] !== true) return body;
  const asked = body['stream_options'];
  const options = typeof asked === 'object' && asked !== null ? asked : {};
  return { ...body, stream_options: { ...options, include_usage: true } };
}

/** These models always answer with base64, and refuse requests for it. */
const ALWAYS_BASE64 = /^(gpt-image|chatgpt-image)/;
/** The shapes that OpenAI's image models offer. */
const IMAGE_SIZES = ['1024x1024', '1536x1024', '1024x1536'];
const DEFAULT_VIDEO = { aspectRatio: '16:9', shortSide: 720 };

/** OpenAI: images, edits as forms, videos at /v1/videos, chat, responses, speech and transcriptions. */
export class OpenAiProtocol implements Protocol {
  static readonly families = ['image', 'video', 'chat', 'speech'] as const;
  static readonly sound = 'always';
  readonly probe = { path: '/v1/models' };
  readonly calls: ChannelCalls;
  readonly sendsKeys = true;
  readonly takesMasks = true;
  /** Sent to the address of the project at OpenAI, about everything in that project. */
  readonly webhooks = new StandardWebhooks(({ data }) => [asObject(data)?.['id']]);
  readonly streams = {
    ...openAiStreams,
    imageStream: { path: '/v1/images/generations', prepare: streamedImageFields },
    editStream: { path: '/v1/images/edits', prepare: streamedImageFields, form: editForm },
  } satisfies Protocol['streams'];

  constructor(connections: UpstreamConnections) {
    this.calls = new ChannelCalls(connections, { credentials: bearer });
  }

  async generateImages(channel: Channel, request: ImageRequest, signal: AbortSignal): Promise<ImageOutcome> {
    return this.calls.create(channel, '/v1/images/generations', {
      body: { json: imageFields(request) },
      signal,
      read: (answer) => readImages(answer, request.n, tokensOfImages),
    });
  }

  async editImages(channel: Channel, request: ImageEditRequest, signal: AbortSignal): Promise<ImageOutcome> {
    return this.calls.create(channel, '/v1/images/edits', {
      body: editForm(imageFields(request), request),
      signal,
      read: (answer) => readImages(answer, request.n, tokensOfImages),
    });
  }

  async createVideo(channel: Channel, request: VideoRequest, options: CreateOptions): Promise<CreateOutcome> {
    const { model, prompt, seconds } = request;
    const json = { model, prompt, seconds: String(seconds), size: videoSize(request) };
    return this.calls.createTask(channel, '/v1/videos', { ...options, json, read: readCreated });
  }

  remixVideo(channel: Channel, request: RemixRequest, options: CreateOptions): Promise<CreateOutcome> {
    return remixAtOpenAi(this.calls, channel, { ...request, ...options });
  }

  /** The answer names the video, which has to be the requested one. */
  pollTask(channel: Channel, upstreamId: string, signal: AbortSignal): Promise<PollOutcome> {
    return pollVideoByPath(this.calls, channel, { upstreamId, signal, answersId: true });
  }
}

function streamedImageFields({
  stream,
  partial_images,
  ...body
}: Record<string, unknown>): Record<string, unknown> {
  return { ...imageFields(body as unknown as ImageRequest), stream, partial_images };
}

/** There is no aspect ratio here, only sizes. */
function imageFields(request: ImageRequest): Record<string, unknown> {
  const { model, prompt, n, size, aspectRatio } = request;
  return {
    ...request.extras,
    model,
    prompt,
    n,
    response_format: ALWAYS_BASE64.test(model) ? undefined : request.responseFormat,
    size: size ?? (aspectRatio === undefined ? undefined : nearestSize(aspectRatio)),
  };
}

function nearestSize(aspectRatio: string): string | undefined {
  return toSize(aspectRatio, IMAGE_SIZES);
}

/**
 * `720p` and `9:16` are `720x1280`, unless they were derived from a size. The vendor knows that size, and only a few
 * others.
 */
function videoSize({ size, aspectRatio, resolution }: VideoRequest): string | undefined {
  if (size !== undefined && toAspectRatio(size) === aspectRatio && toResolution(size) === resolution)
    return size;
  if (aspectRatio === undefined && resolution === undefined) return undefined;
  const shortSide = Number.parseInt(resolution ?? '', 10) || DEFAULT_VIDEO.shortSide;
  const ratio = /^[1-9]\d{0,3}:[1-9]\d{0,3}$/.test(aspectRatio ?? '') ? aspectRatio : undefined;
  const [width = 1, height = 1] = (ratio ?? DEFAULT_VIDEO.aspectRatio).split(':').map(Number);
  const scale = shortSide / Math.min(width, height);
  // Video codecs only take even sides.
  const even = (side: number) => Math.round((side * scale) / 2) * 2;
  return `${even(width)}x${even(height)}`;
}
