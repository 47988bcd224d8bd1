import type { Channel } from '#catalog/catalog.js';
import { notAnswered, readCount } from '../answers.js';
import { ChannelCalls } from '../channel-calls.js';
import type { UpstreamConnections } from '../connections.js';
import { FileUnavailable, type FileBody } from '../file-download.js';
import { contentsOf, imageParameters, videoParameters } from '../gemini/gemini.bodies.js';
import { readPredictions } from '../gemini/gemini.answers.js';
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
import { readServiceAccount, serviceAccounts } from './service-account.js';
import { ServiceTokens } from './service-tokens.js';
import { modelOfOperation, readFetched, readStarted, readVideo } from './vertex.answers.js';

/** The name of a finished operation's file between its poll and its copy. The operation itself contains it. */
const FILE_SCHEME = 'vertex:';

/** The fields of a count. It ignores the rest of a request. */
const COUNTED = ['contents', 'systemInstruction', 'tools', 'generationConfig'];

/**
 * Google's models on Vertex AI: the bodies of the Gemini API at addresses with project and location, on behalf of a
 * service account. A channel's keys are the JSON documents of such accounts.
 */
export class VertexProtocol implements Protocol {
  static readonly families = ['image', 'video', 'chat'] as const;
  static readonly sound = 'asked';
  static readonly keyForm = serviceAccounts;
  readonly probe = { path: '/v1/publishers/google/models/none', expected: 404 };
  readonly calls: ChannelCalls;
  readonly streams = {
    contents: {
      path: ({ model, stream }: Record<string, unknown>, channel: Channel) =>
        methodOf(
          channel,
          String(model),
          stream === true ? 'streamGenerateContent?alt=sse' : 'generateContent',
        ),
      prepare: contentsOf,
    },
  };

  constructor(connections: UpstreamConnections) {
    const tokens = new ServiceTokens(connections);
    this.calls = new ChannelCalls(connections, {
      credentials: async (channel) => ({ authorization: `Bearer ${await tokens.of(channel)}` }),
      turnedAway: (channel) => tokens.forget(channel),
    });
  }

  async generateImages(channel: Channel, request: ImageRequest, signal: AbortSignal): Promise<ImageOutcome> {
    const { prompt, n } = request;
    return this.calls.create(channel, methodOf(channel, request.model, 'predict'), {
      body: { json: { instances: [{ prompt }], parameters: imageParameters(request) } },
      signal,
      read: (answer) => readPredictions(answer, n),
    });
  }

  async countTokens(channel: Channel, request: CountRequest, signal: AbortSignal): Promise<CountOutcome> {
    const fields = Object.entries(contentsOf(request.body)).filter(([name]) => COUNTED.includes(name));
    return this.calls.create<CountOutcome>(channel, methodOf(channel, request.model, 'countTokens'), {
      body: { json: Object.fromEntries(fields) },
      signal,
      isFree: true,
      read: (answer) => readCount(answer, 'totalTokens'),
    });
  }

  async createVideo(
    channel: Channel,
    request: VideoRequest,
    { signal }: CreateOptions,
  ): Promise<CreateOutcome> {
    const parameters = { ...videoParameters(request), generateAudio: request.audio, sampleCount: 1 };
    const json = { instances: [{ prompt: request.prompt }], parameters };
    const path = methodOf(channel, request.model, 'predictLongRunning');
    return this.calls.createTask(channel, path, { json, signal, read: readStarted });
  }

  /** The upstream's id is the name of its operation. A finished one contains the video, which is not stored here. */
  async pollTask(channel: Channel, upstreamId: string, signal: AbortSignal): Promise<PollOutcome> {
    const result = await this.fetchOperation(channel, upstreamId, signal);
    if (result === null) return { kind: 'no_answer', reason: 'no name of an operation', of: 'task' };
    if (result.kind === 'failure') return notAnswered(result);
    return readFetched(result, upstreamId, FILE_SCHEME + upstreamId);
  }

  async openFile(
    channel: Channel,
    fileUrl: string,
    { signal, maxBytes }: { signal: AbortSignal; maxBytes: number },
  ): Promise<FileBody> {
    const result = await this.fetchOperation(channel, fileUrl.slice(FILE_SCHEME.length), signal);
    if (result === null) throw new FileUnavailable('no name of an operation');
    if (result.kind === 'failure') throw new FileUnavailable(result.reason, { mayPass: true });
    return readVideo(result, maxBytes);
  }

  private async fetchOperation(channel: Channel, name: string, signal: AbortSignal) {
    const model = modelOfOperation(name);
    if (model === null) return null;
    const path = `/v1/${model}:fetchPredictOperation`;
    return this.calls.ask(channel, path, { json: { operationName: name }, signal });
  }
}

/** Where the account's project and the channel's location are served. */
function methodOf(channel: Channel, model: string, method: string): string {
  const project = readServiceAccount(channel.apiKey)?.projectId ?? '-';
  const place = `projects/${project}/locations/${locationOf(channel)}`;
  return `/v1/${place}/publishers/google/models/${encodeURIComponent(model)}:${method}`;
}

/** Regional addresses start with their location. The global one has none. */
function locationOf({ baseUrl }: Channel): string {
  return /^https:\/\/([a-z0-9-]+)-aiplatform\./.exec(baseUrl)?.[1] ?? 'global';
}
