import { readJsonBody, sendJson, VendorRefusal } from '../answers.js';
import { acceptMesh, foundMesh, meshUrl, readMeshTask } from '../meshes.js';
import { shownId, spoilPoll } from '../task-calls.js';
import type { Exchange, Vendor } from '../vendor.js';
import { type MeshTask, stateAt } from '../vendor-tasks.js';
import { FAILURE } from '../videos.js';

const WORDS = { queued: 'PENDING', working: 'IN_PROGRESS', completed: 'SUCCEEDED', failed: 'FAILED' };

type Json = Record<string, unknown>;

/** The vendor's operations, each at its own path, with the fields of the small relays. */
const fieldsOf: Record<string, (body: Json) => Json> = {
  'v2/text-to-3d': (body) =>
    body['mode'] === 'refine'
      ? { ...texture(body, 'preview_task_id'), prompt: body['texture_prompt'] }
      : { model: body['ai_model'], prompt: body['prompt'] },
  'v1/image-to-3d': (body) => ({ model: body['ai_model'], images: [body['image_url']] }),
  'v1/multi-image-to-3d': (body) => ({ model: body['ai_model'], images: body['image_urls'] }),
  'v1/retexture': (body) => ({ ...texture(body, 'input_task_id'), prompt: styleOf(body) }),
};

function texture(body: Json, draft: string): Json {
  return { model: body['ai_model'] ?? 'latest', mode: 'texture', draft_id: body[draft] };
}

/** @throws VendorRefusal if nothing describes how it should look */
function styleOf(body: Json): unknown {
  const style = body['text_style_prompt'] ?? (body['image_style_url'] === undefined ? undefined : '');
  if (style !== undefined) return style;
  throw new VendorRefusal(400, '', 'Either text_style_prompt or image_style_url is required');
}

/** `POST /meshy/openapi/{work}`. */
export async function createAtMeshy(vendor: Vendor, exchange: Exchange, work: string): Promise<void> {
  const body = await readJsonBody(exchange.request);
  const fields = fieldsOf[work]?.(body) ?? {};
  // This vendor answers 404 for a missing preview.
  if (typeof body['preview_task_id'] === 'string') foundMesh(vendor, body['preview_task_id']);
  if (typeof body['input_task_id'] === 'string') refuseUntexturable(vendor, body['input_task_id']);
  const task: MeshTask = { ...readMeshTask(vendor, fields), work };
  if (work !== 'v2/text-to-3d' && task.mode === 'draft' && body['should_texture'] !== false)
    throw new VendorRefusal(400, '', 'The sandbox makes meshes of images without a texture only');
  const accepted = await acceptMesh(vendor, exchange, task);
  if (accepted) sendJson(exchange.response, 202, { result: accepted.id });
}

/** @throws VendorRefusal for what is not in the vendor's list of what can be textured */
function refuseUntexturable({ meshes }: Vendor, id: string): void {
  const work = meshes.find(id)?.work;
  if (work === 'v2/text-to-3d' || work === 'v1/image-to-3d') return;
  throw new VendorRefusal(400, '', 'Invalid input task');
}

/** `GET /meshy/openapi/{work}/{id}`. */
export function meshyTask(vendor: Vendor, exchange: Exchange, path: string): void {
  vendor.stats.polls += 1;
  const [version, name, id = ''] = path.split('/');
  const task = foundMesh(vendor, id);
  if (task.work !== `${version}/${name}`) throw new VendorRefusal(404, '', 'Task not found');
  const strange = spoilPoll(vendor.meshes, task);
  const { phase, progress } = stateAt(task, vendor.clock.nowMs());
  const isOver = strange === undefined && phase === 'completed';
  sendJson(exchange.response, 200, {
    id: shownId(vendor.meshes, task),
    status: strange ?? WORDS[phase],
    progress,
    prompt: task.prompt,
    model_urls: isOver ? { glb: meshUrl(vendor, exchange, task) } : {},
    task_error: { message: phase === 'failed' ? FAILURE.message : '' },
  });
}
