import type { Channel } from '#catalog/catalog.js';
import { readDetail } from '../answers.js';
import { ChannelCalls } from '../channel-calls.js';
import type { UpstreamConnections } from '../connections.js';
import { dataUrl } from '../data-url.js';
import type {
  CreateOutcome,
  ImageEditRequest,
  ImageOutcome,
  ImageRequest,
  PollOutcome,
  VideoRequest,
} from '../outcomes.js';
import { type ImagesPending, pendingAfter, waitForImages } from '../polled-images.js';
import type { CreateOptions, Protocol } from '../protocol.js';
import {
  appOf,
  isRequestPath,
  readImageResult,
  readStatus,
  readSubmitted,
  readVideoResult,
} from './fal.answers.js';
import { FalWebhooks } from './fal.webhooks.js';

/** These models name their lengths `8s`, the others `8`. */
const LENGTH_WITH_UNIT = /\/(veo|luma)/;

/** fal: requests in the queue of the model's endpoint. Images are polled within the call, videos are tasks. */
export class FalProtocol implements Protocol {
  static readonly families = ['image', 'video'] as const;
  static readonly sound = 'asked';
  readonly probe = {
    path: '/fal-ai/flux/requests/00000000-0000-0000-0000-000000000000/status',
    expected: 404,
  };
  readonly takesMasks = true;
  readonly calls: ChannelCalls;
  readonly webhooks: FalWebhooks;

  constructor(connections: UpstreamConnections) {
    this.calls = new ChannelCalls(connections, { credentials, errorOf: readDetail });
    this.webhooks = new FalWebhooks(connections);
  }

  generateImages(channel: Channel, request: ImageRequest, signal: AbortSignal): Promise<ImageOutcome> {
    return this.images(channel, request, { input: imageFields(request), signal });
  }

  editImages(channel: Channel, request: ImageEditRequest, signal: AbortSignal): Promise<ImageOutcome> {
    const images = request.images.map(dataUrl);
    const input = {
      ...imageFields(request),
      // Some endpoints take one image, others a list. Neither minds the other's field.
      image_url: images.length === 1 ? images[0] : undefined,
      image_urls: images,
      mask_url: request.mask && dataUrl(request.mask),
    };
    return this.images(channel, request, { input, signal });
  }

  createVideo(channel: Channel, request: VideoRequest, options: CreateOptions): Promise<CreateOutcome> {
    const { signal, webhookUrl } = options;
    const { model, prompt, seconds, aspectRatio, resolution, audio } = request;
    const duration = LENGTH_WITH_UNIT.test(model) ? `${seconds}s` : String(seconds);
    const input = { prompt, duration, aspect_ratio: aspectRatio, resolution, generate_audio: audio };
    return this.submit(channel, model, { input, signal, webhookUrl });
  }

  async pollTask(channel: Channel, upstreamId: string, signal: AbortSignal): Promise<PollOutcome> {
    if (!isRequestPath(upstreamId)) return { kind: 'no_answer', reason: 'no id of a request', of: 'task' };
    const status = readStatus(await this.calls.get(channel, `/${upstreamId}/status`, { signal }), upstreamId);
    if (status !== 'completed') return status;
    return readVideoResult(await this.calls.get(channel, `/${upstreamId}`, { signal }));
  }

  async cancelTask(channel: Channel, upstreamId: string): Promise<void> {
    if (isRequestPath(upstreamId)) await this.calls.cancel(channel, `/${upstreamId}/cancel`, 'PUT');
  }

  private async images(
    channel: Channel,
    { model, n }: ImageRequest,
    { input, signal }: Submission,
  ): Promise<ImageOutcome> {
    const poll = async (id: string): Promise<ImageOutcome | ImagesPending> => {
      const status = readStatus(await this.calls.get(channel, `/${id}/status`, { signal }), id);
      if (status !== 'completed') return pendingAfter(status);
      return readImageResult(await this.calls.get(channel, `/${id}`, { signal }), n);
    };
    const cancel = (id: string) => this.cancelTask(channel, id);
    return waitForImages(await this.submit(channel, model, { input, signal }), { poll, cancel, signal });
  }

  private submit(
    channel: Channel,
    endpoint: string,
    { input, signal, webhookUrl }: Submission,
  ): Promise<CreateOutcome> {
    const app = appOf(endpoint);
    return this.calls.createTask(channel, `/${endpoint}${this.webhooks.queryFor(webhookUrl, app)}`, {
      json: input,
      signal,
      read: (answer) => readSubmitted(answer, app),
    });
  }
}

interface Submission {
  input: object;
  signal: AbortSignal;
  webhookUrl?: string | undefined;
}

/** A size is two numbers here. Endpoints with shapes take ratios. */
function imageFields(request: ImageRequest): Record<string, unknown> {
  const { prompt, n, size = '', aspectRatio, resolution, extras } = request;
  const [, width, height] = (/^([1-9]\d{0,4})x([1-9]\d{0,4})$/.exec(size) ?? []).map(Number);
  return {
    ...extras,
    prompt,
    num_images: n,
    image_size: width === undefined ? undefined : { width, height },
    aspect_ratio: aspectRatio,
    resolution,
  };
}

function credentials({ apiKey }: Channel): Record<string, string> {
  return { authorization: `Key ${apiKey}` };
}
