import type { Channel } from '#catalog/catalog.js';
import { notAnswered } from '../answers.js';
import { toAspectRatio } from '../aspect-ratio.js';
import { ChannelCalls, urlOf } from '../channel-calls.js';
import type { UpstreamConnections } from '../connections.js';
import type { CreateOutcome, ImageOutcome, ImageRequest, PollOutcome, VideoRequest } from '../outcomes.js';
import type { CreateOptions, Protocol } from '../protocol.js';
import { isOperationName, readOperation, readOperationName, readPredictions } from './gemini.answers.js';

/** The shapes of Google's image models. */
const IMAGE_RATIOS = ['1:1', '3:4', '4:3', '9:16', '16:9'];

/** Google's Gemini API: images by :predict, videos by :predictLongRunning, its operations and files. */
export class GeminiProtocol implements Protocol {
  readonly calls: ChannelCalls;

  constructor(connections: UpstreamConnections) {
    this.calls = new ChannelCalls(connections, { credentials });
  }

  async generateImages(channel: Channel, request: ImageRequest, signal: AbortSignal): Promise<ImageOutcome> {
    const { prompt, n, size, resolution } = request;
    const aspectRatio = request.aspectRatio ?? (size && toAspectRatio(size, IMAGE_RATIOS));
    const parameters = {
      sampleCount: n,
      aspectRatio: aspectRatio === 'auto' ? undefined : aspectRatio,
      sampleImageSize: resolution?.toUpperCase(),
    };
    return this.calls.create(channel, methodOf(request.model, 'predict'), {
      body: { json: { instances: [{ prompt }], parameters } },
      signal,
      read: (answer) => readPredictions(answer, n),
    });
  }

  async createVideo(channel: Channel, request: VideoRequest, options: CreateOptions): Promise<CreateOutcome> {
    const { prompt, seconds, aspectRatio, resolution } = request;
    const parameters = { durationSeconds: seconds, aspectRatio, resolution };
    return this.calls.create(channel, methodOf(request.model, 'predictLongRunning'), {
      body: { json: { instances: [{ prompt }], parameters } },
      headers: { 'idempotency-key': options.idempotencyKey },
      signal: options.signal,
      yields: 'task',
      read: readOperationName,
    });
  }

  /** The upstream's id is the name of its operation, `models/{model}/operations/{key}`, which is the path too. */
  async pollVideo(channel: Channel, upstreamId: string, signal: AbortSignal): Promise<PollOutcome> {
    if (!isOperationName(upstreamId))
      return { kind: 'no_answer', reason: 'no name of an operation', of: 'task' };
    const path = `/v1beta/${upstreamId}`;
    const result = await this.calls.get(channel, path, { signal });
    if (result.kind === 'failure') return notAnswered(result);
    return readOperation(result, urlOf(channel, path));
  }
}

function methodOf(model: string, method: string): string {
  return `/v1beta/models/${encodeURIComponent(model)}:${method}`;
}

function credentials({ apiKey }: Channel): Record<string, string> {
  return { 'x-goog-api-key': apiKey };
}
