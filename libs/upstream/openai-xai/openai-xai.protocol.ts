import type { Channel } from '#catalog/catalog.js';
import { readImages } from '../answers.js';
import { toAspectRatio } from '../aspect-ratio.js';
import { bearer, ChannelCalls } from '../channel-calls.js';
import type { UpstreamConnections } from '../connections.js';
import { openAiStreams } from '../openai/openai.protocol.js';
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
import { tokensOfImages } from '../usage/image-usage.js';
import { editForm } from '../openai/edit-form.js';
import { remixAtOpenAi } from '../openai/remix.js';
import { editJson } from '../xai/edit-json.js';
import { createVideoAtXai } from '../xai/video.js';
import { pollVideoByPath } from '../openai/video-poll.js';

/** "Argument not supported: size" */
const SIZE_REFUSED = /\bnot supported\b.*\bsize\b|\bsize\b.*\bnot supported\b/i;

/**
 * The protocol that OpenAI and xAI share, in the form that both accept, for relays and gateways that speak either or a
 * mixture: JSON bodies, videos created at /v1/videos/generations, and answers read in either dialect. If one of them
 * refuses a form, the other one is used, and remembered while the program runs.
 */
export class OpenAiXaiProtocol implements Protocol {
  static readonly families = ['image', 'video', 'chat', 'speech'] as const;
  static readonly sound = 'asked';
  readonly probe = { path: '/v1/models' };
  readonly calls: ChannelCalls;
  readonly sendsKeys = true;
  readonly takesMasks = true;
  readonly streams = openAiStreams;
  private readonly channelsWithoutSize = new Set<string>();
  private readonly channelsWithoutForms = new Set<string>();

  constructor(connections: UpstreamConnections) {
    this.calls = new ChannelCalls(connections, { credentials: bearer });
  }

  /** OpenAI takes a `size`. xAI refuses the field, and the nearest aspect ratio is sent instead. */
  async generateImages(channel: Channel, request: ImageRequest, signal: AbortSignal): Promise<ImageOutcome> {
    return this.withOrWithoutSize(channel, request, (sized) => this.postImages(channel, sized, signal));
  }

  /** OpenAI takes a form. xAI refuses any with 415, and receives JSON instead. */
  async editImages(channel: Channel, request: ImageEditRequest, signal: AbortSignal): Promise<ImageOutcome> {
    return this.withOrWithoutSize(channel, request, async (sized) => {
      const path = '/v1/images/edits';
      const read = readerOf(request);
      if (!this.channelsWithoutForms.has(channel.id)) {
        const body = editForm(imageFields(sized), sized);
        const outcome = await this.calls.create(channel, path, { body, signal, read });
        if (outcome.kind !== 'refused' || outcome.upstreamStatus !== 415) return outcome;
        this.channelsWithoutForms.add(channel.id);
      }
      const body = { json: { ...imageFields(sized), ...editJson(sized) } };
      return this.calls.create(channel, path, { body, signal, read });
    });
  }

  createVideo(channel: Channel, request: VideoRequest, options: CreateOptions): Promise<CreateOutcome> {
    return createVideoAtXai(this.calls, channel, { ...request, ...options });
  }

  remixVideo(channel: Channel, request: RemixRequest, options: CreateOptions): Promise<CreateOutcome> {
    return remixAtOpenAi(this.calls, channel, { ...request, ...options });
  }

  pollTask(channel: Channel, upstreamId: string, signal: AbortSignal): Promise<PollOutcome> {
    return pollVideoByPath(this.calls, channel, { upstreamId, signal });
  }

  private async withOrWithoutSize<R extends ImageRequest>(
    channel: Channel,
    request: R,
    ask: (request: R) => Promise<ImageOutcome>,
  ): Promise<ImageOutcome> {
    const takesSize = request.size !== undefined && !this.channelsWithoutSize.has(channel.id);
    const outcome = await ask(takesSize ? request : withoutSize(request));
    if (!takesSize || outcome.kind !== 'refused' || !SIZE_REFUSED.test(outcome.message)) return outcome;
    this.channelsWithoutSize.add(channel.id);
    return ask(withoutSize(request));
  }

  private postImages(channel: Channel, request: ImageRequest, signal: AbortSignal): Promise<ImageOutcome> {
    const body = { json: imageFields(request) };
    return this.calls.create(channel, '/v1/images/generations', { body, signal, read: readerOf(request) });
  }
}

function readerOf({ n }: ImageRequest) {
  return (answer: Parameters<typeof readImages>[0]) => readImages(answer, n, tokensOfImages);
}

/** The fields shared by generations and edits. */
function imageFields(request: ImageRequest): Record<string, unknown> {
  return {
    ...request.extras,
    model: request.model,
    prompt: request.prompt,
    n: request.n,
    response_format: request.responseFormat,
    size: request.size,
    aspect_ratio: request.aspectRatio,
    resolution: request.resolution,
  };
}

function withoutSize<R extends ImageRequest>(request: R): R {
  if (request.size === undefined) return request;
  return { ...request, size: undefined, aspectRatio: request.aspectRatio ?? toAspectRatio(request.size) };
}
