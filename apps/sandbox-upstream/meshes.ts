import { createHash, randomUUID } from 'node:crypto';
import { readJsonBody, VendorRefusal, sendJson, refusedField } from './answers.js';
import { deliver } from './delivery.js';
import { readDirectives } from './directives.js';
import { cubeGlb } from './media/glb.js';
import { acceptTask, answered, requireFile, shownId, spoilPoll } from './task-calls.js';
import {
  type Exchange,
  optionalTextField,
  publicOriginOf,
  requiredTextField,
  seedOf,
  type Vendor,
} from './vendor.js';
import { type MeshTask, stateAt } from './vendor-tasks.js';
import { FAILURE } from './videos.js';

const MAX_KEPT_PROMPT = 1_000;
const IMAGE = /^data:image\/(png|jpeg|webp);base64,[\w+/]+=*$/;

/** `POST /v1/3d/generations`: a draft from a text or images, or the texture of a finished draft. */
export async function createMesh(vendor: Vendor, exchange: Exchange): Promise<void> {
  const body = await readJsonBody(exchange.request);
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
  if (accepted !== task) return accepted;
  vendor.stats.meshesAccepted += 1;
  return answered(vendor, exchange, task);
}

/** Reads a body with the fields of the small relays. @throws VendorRefusal */
export function readMeshTask(vendor: Vendor, body: Record<string, unknown>): MeshTask {
  const model = requiredTextField(body, 'model');
  const mode = readMode(body);
  if (mode === 'texture') refuseUnlessFinished(vendor, requiredTextField(body, 'draft_id'));
  const prompt = optionalTextField(body, 'prompt') ?? '';
  const images = readViews(body['images']);
  if (mode === 'draft' && prompt === '' && images.length === 0) {
    throw refusedField('prompt', 'A draft needs a prompt or images.', 'missing_required_parameter');
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
  throw refusedField('mode', 'A mode is draft or texture.');
}

/** Images as data URLs, four at most. @throws VendorRefusal */
function readViews(value: unknown): unknown[] {
  const images: unknown[] = Array.isArray(value) ? value : value == null ? [] : [value];
  if (images.length > 4) throw refusedField('images', 'At most four images.');
  if (images.every((image) => typeof image === 'string' && IMAGE.test(image))) return images;
  throw refusedField('images', 'An image is a data URL in base64.', 'invalid_image');
}

function refuseUnlessFinished(vendor: Vendor, draftId: string): void {
  const draft = vendor.meshes.find(draftId);
  if (!draft) throw refusedField('draft_id', 'There is no such draft.', 'draft_not_found');
  if (draft.mode !== 'draft') throw refusedField('draft_id', 'This is a texture.', 'not_a_draft');
  const { phase } = stateAt(draft, vendor.clock.nowMs());
  if (phase === 'completed') return;
  throw refusedField('draft_id', 'The draft is not finished, or failed.', 'draft_not_finished');
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
  requireFile(vendor, task, 'mesh');
  const bytes = cubeGlb(task.mode, task.mode === 'draft' ? null : task.hue);
  await deliver(vendor, exchange, { bytes, contentType: 'model/gltf-binary', faults: task.faults });
}

export function foundMesh(vendor: Vendor, id: string): MeshTask {
  const task = vendor.meshes.find(id);
  if (!task) throw new VendorRefusal(404, 'mesh_not_found', 'There is no such mesh.');
  return task;
}
