import { createHash, randomUUID } from 'node:crypto';
import { readJsonBody, VendorRefusal, sendJson } from './answers.js';
import { deliver } from './delivery.js';
import { readDirectives } from './directives.js';
import { cubeGlb } from './media/glb.js';
import { acceptTask, shownId, spoilPoll } from './task-calls.js';
import {
  type Exchange,
  holdUntilClientLeaves,
  optionalTextField,
  publicOriginOf,
  requiredTextField,
  seedOf,
  type Vendor,
} from './vendor.js';
import { endOf, type MeshTask, stateAt } from './vendor-tasks.js';
import { FAILURE } from './videos.js';

/** Four photos in base64. */
const MAX_BODY_BYTES = 32 * 1024 * 1024;
const MAX_KEPT_PROMPT = 1_000;
const IMAGE = /^data:image\/(png|jpeg|webp);base64,[\w+/]+=*$/;

/** `POST /v1/3d/generations`: a draft from a text or images, or the texture of a finished draft. */
export async function createMesh(vendor: Vendor, exchange: Exchange): Promise<void> {
  const body = await readJsonBody(exchange.request, MAX_BODY_BYTES);
  const accepted = await acceptMesh(vendor, exchange, readMeshTask(vendor, body));
  if (accepted) sendJson(exchange.response, 200, { id: accepted.id, status: 'queued' });
}

/** The task to answer with, new or repeated. Undefined if its prompt requests no answer. */
export async function acceptMesh(
  vendor: Vendor,
  exchange: Exchange,
  task: MeshTask,
): Promise<MeshTask | undefined> {
  const accepted = acceptTask(vendor.meshes, exchange, task);
  if (accepted === task) {
    vendor.stats.meshesAccepted += 1;
    if (task.faults.includes('accept-then-timeout')) {
      await holdUntilClientLeaves(vendor, exchange.response);
      return undefined;
    }
  }
  return accepted;
}

/** Reads a body with the fields of the small relays. @throws VendorRefusal */
export function readMeshTask(vendor: Vendor, body: Record<string, unknown>): MeshTask {
  const model = requiredTextField(body, 'model');
  const mode = readMode(body);
  if (mode === 'texture') refuseUnlessFinished(vendor, requiredTextField(body, 'draft_id'));
  const prompt = optionalTextField(body, 'prompt') ?? '';
  const images = readViews(body['images']);
  if (mode === 'draft' && prompt === '' && images.length === 0) {
    const why = { message: 'A draft needs a prompt or images.', param: 'prompt' };
    throw new VendorRefusal(400, 'missing_required_parameter', why);
  }
  const { faults, workMs } = readDirectives(prompt);
  return {
    id: `mesh_${randomUUID().replaceAll('-', '')}`,
    mode,
    model,
    prompt: prompt.slice(0, MAX_KEPT_PROMPT),
    hue: (Number.parseInt(seedOf(prompt, 0).slice(0, 4), 16) * 360) / 0x10000,
    faults,
    createdAtMs: vendor.clock.nowMs(),
    workMs: workMs ?? vendor.settings.videoMs,
    spoiledPolls: 0,
    idempotencyKey: null,
    inputHash: createHash('sha256').update(JSON.stringify(body)).digest('hex'),
  };
}

function readMode(body: Record<string, unknown>): 'draft' | 'texture' {
  const mode = optionalTextField(body, 'mode') ?? 'draft';
  if (mode === 'draft' || mode === 'texture') return mode;
  throw new VendorRefusal(400, 'invalid_value', { message: 'A mode is draft or texture.', param: 'mode' });
}

/** Images as data URLs, four at most. @throws VendorRefusal */
function readViews(value: unknown): unknown[] {
  const images: unknown[] = Array.isArray(value) ? value : value == null ? [] : [value];
  if (images.length > 4)
    throw new VendorRefusal(400, 'invalid_value', { message: 'At most four images.', param: 'images' });
  if (images.every((image) => typeof image === 'string' && IMAGE.test(image))) return images;
  throw new VendorRefusal(400, 'invalid_image', {
    message: 'An image is a data URL in base64.',
    param: 'images',
  });
}

function refuseUnlessFinished(vendor: Vendor, draftId: string): void {
  const draft = vendor.meshes.find(draftId);
  if (!draft)
    throw new VendorRefusal(400, 'draft_not_found', {
      message: 'There is no such draft.',
      param: 'draft_id',
    });
  if (draft.mode !== 'draft')
    throw new VendorRefusal(400, 'not_a_draft', { message: 'This is a texture.', param: 'draft_id' });
  const { phase } = stateAt(draft, vendor.clock.nowMs());
  if (phase === 'completed') return;
  throw new VendorRefusal(400, 'draft_not_finished', {
    message: 'The draft is not finished, or failed.',
    param: 'draft_id',
  });
}

const WORDS = { queued: 'queued', working: 'processing', completed: 'completed', failed: 'failed' };

/** `GET /v1/3d/generations/{id}`. */
export function pollMesh(vendor: Vendor, exchange: Exchange, id: string): void {
  vendor.stats.polls += 1;
  const task = foundMesh(vendor, id);
  const strange = spoilPoll(vendor.meshes, task);
  const { phase, progress } = stateAt(task, vendor.clock.nowMs());
  const finished = task.faults.includes('done-word') ? 'SUCCESS' : WORDS.completed;
  const model_url = meshUrl(vendor, exchange, task);
  sendJson(exchange.response, 200, {
    id: shownId(vendor.meshes, task),
    status: strange ?? (phase === 'completed' ? finished : WORDS[phase]),
    mode: task.mode,
    progress,
    output: phase === 'completed' && strange === undefined ? { model_url, format: 'glb' } : null,
    error: phase === 'failed' ? FAILURE : null,
  });
}

export function meshUrl(vendor: Vendor, { request }: Exchange, { id }: MeshTask): string {
  return `${publicOriginOf(vendor, request)}/files/meshes/${id}.glb`;
}

/** `GET /files/meshes/{id}.glb` without a key, and `GET /v1/3d/generations/{id}/content` with one. */
export async function serveMesh(vendor: Vendor, exchange: Exchange, id: string): Promise<void> {
  vendor.stats.downloads += 1;
  const task = foundMesh(vendor, id);
  const nowMs = vendor.clock.nowMs();
  if (stateAt(task, nowMs).phase !== 'completed') {
    throw new VendorRefusal(400, 'mesh_not_ready', 'The mesh is not finished.');
  }
  if (nowMs > endOf(task) + vendor.settings.fileMs) {
    throw new VendorRefusal(404, 'file_not_found', 'The file has expired.');
  }
  const bytes = cubeGlb(task.mode, task.mode === 'draft' ? null : task.hue);
  await deliver(vendor, exchange, { bytes, contentType: 'model/gltf-binary', faults: task.faults });
}

export function foundMesh(vendor: Vendor, id: string): MeshTask {
  const task = vendor.meshes.find(id);
  if (!task) throw new VendorRefusal(404, 'mesh_not_found', 'There is no such mesh.');
  return task;
}
