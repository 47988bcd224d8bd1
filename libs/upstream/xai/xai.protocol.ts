import type { Channel } from '#catalog/catalog.js';
import { readImages } from '../answers.js';
import { toAspectRatio } from '../aspect-ratio.js';
import { bearer, ChannelCalls } from '../channel-calls.js';
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
import { pollVideoByPath } from '../openai/video-poll.js';
import { editJson } from './edit-json.js';
import { createVideoAtXai } from './video.js';

/** xAI: images and edits in JSON, shapes as aspect ratios, videos at /v1/videos/generations with 202 while pending. */
export class XaiProtocol implements Protocol {
  static readonly families = ['image', 'video'] as const;
  static readonly sound = 'always';
  readonly probe = { path: '/v1/models' };
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

  createVideo(channel: Channel, request: VideoRequest, options: CreateOptions): Promise<CreateOutcome> {
    return createVideoAtXai(this.calls, channel, { ...request, audio: undefined, ...options });
  }

  pollTask(channel: Channel, upstreamId: string, signal: AbortSignal): Promise<PollOutcome> {
    return pollVideoByPath(this.calls, channel, { upstreamId, signal });
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
