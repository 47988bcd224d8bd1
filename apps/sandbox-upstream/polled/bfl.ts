import { readJsonBody, sendJson } from '../answers.js';
import type { Fault } from '../directives.js';
import { decodeImage } from '../edits.js';
import { readImageOrder } from '../images.js';
import { type Exchange, publicOriginOf, type Vendor } from '../vendor.js';
import { type ImageJob } from '../vendor-tasks.js';
import { acceptImages, pollOf, sizeOf } from './jobs.js';

/** The base path on the sandbox. The vendor has separate hosts for it. */
const BASE = '/bfl/v1';
/** Prompts and images are checked by the task. */
const LATE: readonly Fault[] = ['moderation'];
const WORDS = { queued: 'Pending', working: 'Pending', completed: 'Ready', failed: 'Error' };

/** `POST /bfl/v1/{model}`: one image, from text or from the images sent. */
export async function submitToBfl(vendor: Vendor, exchange: Exchange, model: string): Promise<void> {
  const body = await readJsonBody(exchange.request);
  const images = Object.entries(body).filter(([name]) => /^(image|input_image(_\d)?)$/.test(name));
  const job = await acceptImages(vendor, exchange, {
    model,
    order: readImageOrder({ ...body, model, n: 1, size: sizeOf(body) }),
    originals: images.map(([, base64]) => decodeImage(`data:image/png;base64,${String(base64)}`)),
    late: LATE,
  });
  if (!job) return;
  const polling_url = `${publicOriginOf(vendor, exchange.request)}${BASE}/get_result?id=${job.id}`;
  sendJson(exchange.response, 200, { id: job.id, polling_url });
}

/** `GET /bfl/v1/get_result?id=`: an unknown id is a status, and a 404. */
export function bflResult(vendor: Vendor, { request, response }: Exchange): void {
  const id = new URLSearchParams(request.url?.split('?')[1]).get('id') ?? '';
  if (!vendor.jobs.find(id)) return sendJson(response, 404, { id, status: 'Task not found', result: null });
  const { task, state, strange, shown } = pollOf(vendor, id);
  const isOver = strange === undefined && state.phase === 'completed';
  const isModerated = isOver && task.faults.includes('moderation');
  const [sample] = (task as ImageJob).addresses;
  sendJson(response, 200, {
    id: shown,
    status: isModerated ? 'Content Moderated' : (strange ?? WORDS[state.phase]),
    result: isOver && !isModerated ? { sample, prompt: task.prompt, seed: 1 } : null,
    progress: state.progress / 100,
    details: isModerated ? { 'Moderation Reasons': ['Ordered'] } : null,
  });
}
