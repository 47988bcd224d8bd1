import type { Channel } from '#catalog/catalog.js';
import { asObject, asText, notAnswered, readCount } from '../answers.js';
import { ChannelCalls, urlOf } from '../channel-calls.js';
import type { UpstreamConnections } from '../connections.js';
import type {
  CountOutcome,
  CountRequest,
  CreateOutcome,
  ImageOutcome,
  ImageRequest,
  PollOutcome,
  VideoRequest,
} from '../outcomes.js';
import type { CreateOptions, Protocol } from '../protocol.js';
import { StandardWebhooks } from '../webhooks/vendor-webhooks.js';
import { contentsOf, imageParameters, videoParameters } from './gemini.bodies.js';
import {
  isOperationName,
  operationNames,
  readOperation,
  readOperationName,
  readPredictions,
} from './gemini.answers.js';

/** Streams are requested as events, which can be metered one by one. */
function contentsPath({ model, stream }: Record<string, unknown>): string {
  const method = stream === true ? 'streamGenerateContent?alt=sse' : 'generateContent';
  return methodOf(String(model), method);
}

/** Google's Gemini API: images by :predict, videos by :predictLongRunning, its operations and files, and contents. */
export class GeminiProtocol implements Protocol {
  static readonly families = ['image', 'video', 'chat'] as const;
  static readonly sound = 'always';
  readonly probe = { path: '/v1beta/models?pageSize=1' };
  readonly calls: ChannelCalls;
  readonly sendsKeys = true;
  readonly webhooks = new StandardWebhooks(({ data }, { models }) =>
    operationNames(asText(asObject(data)?.['id']) ?? '', models.values()),
  );
  readonly streams = { contents: { path: contentsPath, prepare: contentsOf } };

  constructor(connections: UpstreamConnections) {
    this.calls = new ChannelCalls(connections, { credentials });
  }

  async generateImages(channel: Channel, request: ImageRequest, signal: AbortSignal): Promise<ImageOutcome> {
    const { prompt, n } = request;
    return this.calls.create(channel, methodOf(request.model, 'predict'), {
      body: { json: { instances: [{ prompt }], parameters: imageParameters(request) } },
      signal,
      read: (answer) => readPredictions(answer, n),
    });
  }

  /**
   * Contents alone are counted as contents. With instructions or tools, they are counted as the request that they are
   * part of.
   */
  async countTokens(channel: Channel, request: CountRequest, signal: AbortSignal): Promise<CountOutcome> {
    const fields = contentsOf(request.body);
    const isPlain = Object.keys(fields).every((name) => name === 'contents');
    const whole = { generateContentRequest: { ...fields, model: `models/${request.model}` } };
    return this.calls.create<CountOutcome>(channel, methodOf(request.model, 'countTokens'), {
      body: { json: isPlain ? fields : whole },
      signal,
      isFree: true,
      read: (answer) => readCount(answer, 'totalTokens'),
    });
  }

  async createVideo(channel: Channel, request: VideoRequest, options: CreateOptions): Promise<CreateOutcome> {
    const json = { instances: [{ prompt: request.prompt }], parameters: videoParameters(request) };
    const path = methodOf(request.model, 'predictLongRunning');
    return this.calls.createTask(channel, path, {
      ...options,
      json,
      read: readOperationName,
    });
  }

  /** The upstream's id is the name of its operation, `models/{model}/operations/{key}`, which is also the path. */
  async pollTask(channel: Channel, upstreamId: string, signal: AbortSignal): Promise<PollOutcome> {
    if (!isOperationName(upstreamId))
      return { kind: 'no_answer', reason: 'no name of an operation', of: 'task' };
    const path = `/v1beta/${upstreamId}`;
    const result = await this.calls.get(channel, path, { signal });
    if (result.kind === 'failure') return notAnswered(result);
    return readOperation(result, urlOf(channel, path), upstreamId);
  }
}

function methodOf(model: string, method: string): string {
  return `/v1beta/models/${encodeURIComponent(model)}:${method}`;
}

function credentials({ apiKey }: Channel): Record<string, string> {
  return { 'x-goog-api-key': apiKey };
}
