import type { Channel } from '#catalog/catalog.js';
import { toAspectRatio } from '../aspect-ratio.js';
import { bearer, ChannelCalls } from '../channel-calls.js';
import type { UpstreamConnections } from '../connections.js';
import type { CreateOutcome, ImageOutcome, ImageRequest, PollOutcome, VideoRequest } from '../outcomes.js';
import { waitForImages } from '../polled-images.js';
import type { CreateOptions, Protocol } from '../protocol.js';
import { StandardWebhooks } from '../webhooks/vendor-webhooks.js';
import {
  isPredictionId,
  readOutputImages,
  readOutputVideo,
  readPrediction,
  readProblem,
} from './replicate.answers.js';

/** Replicate: predictions of models. Images are polled within the call, videos are tasks. */
export class ReplicateProtocol implements Protocol {
  static readonly families = ['image', 'video'] as const;
  static readonly sound = 'asked';
  readonly probe = { path: '/v1/account' };
  readonly calls: ChannelCalls;
  readonly webhooks = new StandardWebhooks(({ id }) => [id]);

  constructor(connections: UpstreamConnections) {
    this.calls = new ChannelCalls(connections, { credentials: bearer, errorOf: readProblem });
  }

  async generateImages(channel: Channel, request: ImageRequest, signal: AbortSignal): Promise<ImageOutcome> {
    const poll = async (id: string) =>
      readOutputImages(await this.calls.get(channel, pathOf(id), { signal }), { id, asked: request.n });
    const cancel = (id: string) => this.cancelTask(channel, id);
    const created = await this.predict(channel, request.model, { input: imageInput(request), signal });
    return waitForImages(created, { poll, cancel, signal });
  }

  createVideo(channel: Channel, request: VideoRequest, options: CreateOptions): Promise<CreateOutcome> {
    const { signal, webhookUrl } = options;
    const { prompt, seconds, aspectRatio, resolution, audio } = request;
    const input = { prompt, duration: seconds, aspect_ratio: aspectRatio, resolution, generate_audio: audio };
    return this.predict(channel, request.model, { input, signal, webhookUrl });
  }

  async pollTask(channel: Channel, upstreamId: string, signal: AbortSignal): Promise<PollOutcome> {
    if (!isPredictionId(upstreamId))
      return { kind: 'no_answer', reason: 'no id of a prediction', of: 'task' };
    return readOutputVideo(await this.calls.get(channel, pathOf(upstreamId), { signal }), upstreamId);
  }

  async cancelTask(channel: Channel, upstreamId: string): Promise<void> {
    if (isPredictionId(upstreamId)) await this.calls.cancel(channel, `${pathOf(upstreamId)}/cancel`, 'POST');
  }

  private predict(
    channel: Channel,
    model: string,
    { input, signal, webhookUrl }: { input: object; signal: AbortSignal; webhookUrl?: string | undefined },
  ): Promise<CreateOutcome> {
    const [name = '', version] = model.split(':');
    const path = version === undefined ? `/v1/models/${name}/predictions` : '/v1/predictions';
    const webhook = webhookUrl && { webhook: webhookUrl, webhook_events_filter: ['completed'] };
    const json = { version, input, ...webhook };
    return this.calls.createTask(channel, path, { json, signal, read: readPrediction });
  }
}

function pathOf(id: string): string {
  return `/v1/predictions/${id}`;
}

/** The shapes of the image models. Most accept a size only with the shape `custom`, and ignore unknown fields. */
const SHAPES = ['1:1', '3:2', '2:3', '4:3', '3:4', '16:9', '9:16'];

/** Models with one image per call have no field for a number. */
function imageInput({ prompt, n, size = '', aspectRatio, resolution, extras }: ImageRequest): object {
  const [, width, height] = (/^([1-9]\d{0,4})x([1-9]\d{0,4})$/.exec(size) ?? []).map(Number);
  return {
    ...extras,
    prompt,
    num_outputs: n > 1 ? n : undefined,
    width,
    height,
    aspect_ratio: width === undefined ? aspectRatio : toAspectRatio(size, SHAPES),
    resolution,
  };
}
