import type { Channel } from '#catalog/catalog.js';
import {
  ANOTHER_TASK,
  asObject,
  asText,
  isOfAnother,
  notAnswered,
  readCreated,
  readFailed,
  readObject,
  readProgress,
  unknownWord,
} from '../answers.js';
import { bearer, ChannelCalls, urlOf } from '../channel-calls.js';
import type { UpstreamConnections } from '../connections.js';
import { dataUrl } from '../data-url.js';
import type { HttpAnswer } from '../http-call.js';
import type { AssetRequest, CreateOutcome, PollOutcome } from '../outcomes.js';
import type { CreateOptions, Protocol } from '../protocol.js';

const PATH = '/v1/3d/generations';

/** The words of the vendors' 3D APIs. An unknown one says nothing, and the task continues. */
const statusWords: ReadonlyMap<string, 'running' | 'completed' | 'failed'> = new Map([
  ['queued', 'running'],
  ['pending', 'running'],
  ['running', 'running'],
  ['processing', 'running'],
  ['in_progress', 'running'],
  ['completed', 'completed'],
  ['success', 'completed'],
  ['succeeded', 'completed'],
  ['failed', 'failed'],
  ['banned', 'failed'],
  ['canceled', 'failed'],
  ['cancelled', 'failed'],
]);

/** 3D assets in the style of small relays: JSON at /v1/3d/generations, drafts and textures as tasks, a GLB file. */
export class Mesh3dProtocol implements Protocol {
  static readonly families = ['3d'] as const;
  readonly probe = { path: '/v1/3d/generations/none', expected: 404 };
  readonly calls: ChannelCalls;
  readonly sendsKeys = true;

  constructor(connections: UpstreamConnections) {
    this.calls = new ChannelCalls(connections, { credentials: bearer });
  }

  async createAsset(channel: Channel, request: AssetRequest, options: CreateOptions): Promise<CreateOutcome> {
    return this.calls.createTask(channel, PATH, {
      ...options,
      json: assetFields(request),
      read: readCreated,
    });
  }

  async pollTask(channel: Channel, upstreamId: string, signal: AbortSignal): Promise<PollOutcome> {
    const path = `${PATH}/${encodeURIComponent(upstreamId)}`;
    const result = await this.calls.get(channel, path, { signal });
    if (result.kind === 'failure') return notAnswered(result);
    if (isOfAnother(readObject(result.body), upstreamId)) return notAnswered(result, ANOTHER_TASK);
    return readAsset(result, urlOf(channel, `${path}/content`));
  }
}

function assetFields(request: AssetRequest): Record<string, unknown> {
  return {
    model: request.model,
    mode: request.mode,
    prompt: request.prompt,
    images: request.images?.map(dataUrl),
    draft_id: request.draftId,
    format: request.format,
    pbr: request.pbr,
    face_limit: request.faceLimit,
    seed: request.seed,
  };
}

/** Reads the answer to a poll. `contentUrl` is the file's address if the answer has none. */
function readAsset(answer: HttpAnswer, contentUrl: URL): PollOutcome {
  if (answer.status !== 200) return notAnswered(answer);
  const body = readObject(answer.body);
  const word = asText(body?.['status'])?.toLowerCase();
  const state = statusWords.get(word ?? '');
  if (body === null || state === undefined) {
    return notAnswered(answer, unknownWord(word));
  }
  if (state === 'running') return { kind: 'running', progress: readProgress(body['progress']) };
  if (state === 'failed') return readFailed(body);
  const named = asText(asObject(body['output'])?.['model_url']) ?? contentUrl.href;
  if (!URL.canParse(named, contentUrl.href))
    return { kind: 'no_answer', reason: 'a model_url that is none', of: 'task' };
  return { kind: 'completed', fileUrl: new URL(named, contentUrl).href };
}
