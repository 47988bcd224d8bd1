import type { Channel } from '#catalog/catalog.js';
import { bearer, ChannelCalls } from '../channel-calls.js';
import type { VerdictRow } from '../classification.js';
import type { UpstreamConnections } from '../connections.js';
import { dataUrl } from '../data-url.js';
import type { AssetRequest, CreateOutcome, PollOutcome } from '../outcomes.js';
import type { CreateOptions, Protocol } from '../protocol.js';
import {
  type MeshyWork,
  readCreatedTask,
  readMessage,
  readTaskPath,
  readTaskState,
} from './meshy.answers.js';

/** Its errors are only a message, and so are those of proxies that lost the answer to a create. */
const verdicts: readonly VerdictRow[] = [{ from: 502, to: 502, verdict: 'unknown' }];

/** The request, and the vendor's kind of work. */
interface Order {
  work: MeshyWork;
  body: object;
}

/** Meshy: drafts are previews and meshes from images, textures are refined previews and textured meshes. */
export class MeshyProtocol implements Protocol {
  static readonly families = ['3d'] as const;
  readonly probe = { path: '/openapi/v1/balance' };
  readonly calls: ChannelCalls;

  constructor(connections: UpstreamConnections) {
    this.calls = new ChannelCalls(connections, { credentials: bearer, errorOf: readMessage, verdicts });
  }

  async createAsset(
    channel: Channel,
    request: AssetRequest,
    { signal }: CreateOptions,
  ): Promise<CreateOutcome> {
    const order = request.mode === 'draft' ? draftOrder(request) : textureOrder(request);
    if (order === null)
      return { kind: 'not_accepted', reason: 'the draft is not of this vendor', upstreamStatus: null };
    if (order === 'untexturable') return UNTEXTURABLE;
    const { work, body } = order;
    const outcome = await this.calls.createTask(channel, `/openapi/${work}`, {
      json: body,
      signal,
      read: (answer) => readCreatedTask(answer, work),
    });
    // The vendor keeps drafts for days, and a repeat brings none back.
    const isGone = outcome.kind === 'not_accepted' && outcome.upstreamStatus === 404;
    return isGone && request.mode === 'texture' ? DRAFT_GONE : outcome;
  }

  async pollTask(channel: Channel, upstreamId: string, signal: AbortSignal): Promise<PollOutcome> {
    const task = readTaskPath(upstreamId);
    if (!task) return { kind: 'no_answer', reason: 'no path of a task', of: 'task' };
    return readTaskState(await this.calls.get(channel, `/openapi/${upstreamId}`, { signal }), task.id);
  }
}

const DRAFT_GONE: CreateOutcome = {
  kind: 'refused',
  status: 400,
  code: 'upstream_rejected',
  message: 'The vendor no longer has this draft. Nothing was charged; make a new one.',
  upstreamStatus: 404,
};

/** Its documentation names the drafts that can be textured, and these are not among them. */
const UNTEXTURABLE: CreateOutcome = {
  kind: 'refused',
  status: 400,
  code: 'upstream_rejected',
  message:
    'This vendor does not texture drafts of several images. Nothing was charged; make a draft of one image.',
  upstreamStatus: null,
};

/** A mesh without a texture. The vendor takes no prompt with images. */
function draftOrder({ model, prompt, images = [], faceLimit }: AssetRequest): Order {
  const mesh = {
    ai_model: model,
    // A number of faces only applies if the mesh is remade with fewer.
    ...(faceLimit === undefined ? {} : { should_remesh: true, target_polycount: faceLimit }),
  };
  const [first, second] = images;
  if (first === undefined) return { work: 'v2/text-to-3d', body: { mode: 'preview', prompt, ...mesh } };
  // Untextured, because it would otherwise be textured, and paid for, twice.
  const bare = { ...mesh, should_texture: false };
  if (second === undefined) return { work: 'v1/image-to-3d', body: { image_url: dataUrl(first), ...bare } };
  return { work: 'v1/multi-image-to-3d', body: { image_urls: images.map(dataUrl), ...bare } };
}

/**
 * Only a preview can be refined. A mesh from images is textured like any mesh. An image says more than a text, and only
 * one is accepted.
 */
function textureOrder({
  model,
  draftId = '',
  prompt,
  images = [],
  pbr,
}: AssetRequest): Order | 'untexturable' | null {
  const draft = readTaskPath(draftId);
  if (!draft) return null;
  if (draft.work === 'v1/multi-image-to-3d') return 'untexturable';
  const [image] = images;
  const style = image && dataUrl(image);
  const text = image ? undefined : prompt;
  if (draft.work === 'v2/text-to-3d') {
    const refined = { mode: 'refine', preview_task_id: draft.id, ai_model: model, enable_pbr: pbr };
    return { work: 'v2/text-to-3d', body: { ...refined, texture_prompt: text, texture_image_url: style } };
  }
  const mesh = { input_task_id: draft.id, ai_model: model, enable_pbr: pbr };
  return { work: 'v1/retexture', body: { ...mesh, text_style_prompt: text, image_style_url: style } };
}
