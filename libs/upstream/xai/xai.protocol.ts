import type { Channel } from '#catalog/catalog.js';
import { notAnswered, readCreated, readImages, readPoll } from '../answers.js';
import { toAspectRatio } from '../aspect-ratio.js';
import { bearer, ChannelCalls, urlOf } from '../channel-calls.js';
import type { UpstreamConnections } from '../connections.js';
import type {
  CreateOutcome,
  ImageEditRequest,
  ImageOutcome,
  ImageRequest,
  PollOutcome,
  VideoRequest,
} from '../outcomes.js';
import type { CreateOptions, Protocol } from '../protocol.js';
import { editJson } from './edit-json.js';

/** xAI: images and edits in JSON, shapes as aspect ratios, videos at /v1/videos/generations with 202 while pending. */
export class XaiProtocol implements Protocol {
  readonly calls: ChannelCalls;
  readonly sendsKeys = true;
  readonly takesMasks = true;

  constructor(connections: UpstreamConnections) {
    this.calls = new ChannelCalls(connections, { credentials: bearer });
  }

  async generateImages(channel: Channel, request: ImageRequest, signal: AbortSignal): Promise<ImageOutcome> {
    return this.calls.create(channel, '/v1/images/generations', {
      body: { json: imageFields(request) },
      signal,
      read: (answer) => readImages(answer, request.n),
    });
  }

  async editImages(channel: Channel, request: ImageEditRequest, signal: AbortSignal): Promise<ImageOutcome> {
    return this.calls.create(channel, '/v1/images/edits', {
      body: { json: { ...imageFields(request), ...editJson(request) } },
      signal,
      read: (answer) => readImages(answer, request.n),
    });
  }

  async createVideo(channel: Channel, request: VideoRequest, options: CreateOptions): Promise<CreateOutcome> {
    const json = {
      model: request.model,
      prompt: request.prompt,
      duration: request.seconds,
      aspect_ratio: request.aspectRatio,
      resolution: request.resolution,
    };
    return this.calls.create(channel, '/v1/videos/generations', {
      body: { json },
      headers: { 'idempotency-key': options.idempotencyKey },
      signal: options.signal,
      yields: 'task',
      read: readCreated,
    });
  }

  async pollVideo(channel: Channel, upstreamId: string, signal: AbortSignal): Promise<PollOutcome> {
    const path = `/v1/videos/${encodeURIComponent(upstreamId)}`;
    const result = await this.calls.get(channel, path, { signal });
    if (result.kind === 'failure') return notAnswered(result);
    return readPoll(result, urlOf(channel, `${path}/content`));
  }
}

/** xAI refuses the field `size`. */
function imageFields(request: ImageRequest): Record<string, unknown> {
  const { model, prompt, n, size, resolution, responseFormat } = request;
  const aspectRatio = request.aspectRatio ?? (size === undefined ? undefined : toAspectRatio(size));
  return {
    ...request.extras,
    model,
    prompt,
    n,
    response_format: responseFormat,
    aspect_ratio: aspectRatio,
    resolution,
  };
}
