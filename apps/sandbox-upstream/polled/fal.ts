import { readJsonBody, sendJson, VendorRefusal } from '../answers.js';
import { decodeImage } from '../edits.js';
import { readImageOrder } from '../images.js';
import { type Exchange, publicOriginOf, type Vendor } from '../vendor.js';
import { isSpoiled } from '../task-calls.js';
import { stateAt, type VendorTaskState, type VideoTask } from '../vendor-tasks.js';
import type { Fault } from '../directives.js';
import { acceptFilm, acceptImages, cancelJob, filmUrl, pollOf, refuseResult, sizeOf } from './jobs.js';

/** The queue's base path on the sandbox. The vendor has a separate host for it. */
const BASE = '/fal';
/** The queue accepts any input. */
const LATE: readonly Fault[] = ['moderation', 'reject-422'];
const WORDS = { queued: 'IN_QUEUE', working: 'IN_PROGRESS', completed: 'COMPLETED', failed: 'COMPLETED' };

/** `POST /fal/{endpoint}`: an endpoint with `video` in its name makes a video, others make images. */
export async function submitToFal(vendor: Vendor, exchange: Exchange, endpoint: string): Promise<void> {
  const input = await readJsonBody(exchange.request);
  const webhook = new URLSearchParams(exchange.request.url?.split('?')[1]).get('fal_webhook');
  const film = { body: filmFields(input, endpoint), dialect: 'fal' as const, late: LATE, webhook };
  const accepted = endpoint.includes('video')
    ? await acceptFilm(vendor, exchange, film)
    : await acceptImages(vendor, exchange, orderOf(input, endpoint));
  if (!accepted) return;
  const app = endpoint.split('/').slice(0, 2).join('/');
  sendJson(exchange.response, 200, {
    ...addressesOf(vendor, exchange, `${app}/requests/${accepted.id}`),
    status: 'IN_QUEUE',
    queue_position: 0,
  });
}

function filmFields(input: Record<string, unknown>, endpoint: string): Record<string, unknown> {
  const duration = typeof input['duration'] === 'string' ? Number.parseInt(input['duration'], 10) : undefined;
  return { ...input, model: endpoint, duration };
}

function orderOf(input: Record<string, unknown>, model: string) {
  const { num_images: n, image_size: size, image_url: one, image_urls: several } = input;
  const fields = { ...input, model, n, size: sizeOf(size ?? {}) };
  const addresses: unknown[] = Array.isArray(several) ? several : one === undefined ? [] : [one];
  return { model, order: readImageOrder(fields), originals: addresses.map(decodeImage), late: LATE };
}

function idOf(path: string): string {
  return path.split('/').at(-1) ?? '';
}

function addressesOf(vendor: Vendor, { request }: Exchange, path: string) {
  const at = `${publicOriginOf(vendor, request)}${BASE}/${path}`;
  return { request_id: idOf(path), response_url: at, status_url: `${at}/status`, cancel_url: `${at}/cancel` };
}

/** `GET /fal/{app}/requests/{id}/status`: 202 until the end. */
export function falStatus(vendor: Vendor, exchange: Exchange, path: string): void {
  const { state, strange, shown } = pollOf(vendor, idOf(path));
  const status = strange?.toUpperCase() ?? WORDS[state.phase];
  const isOver = status === 'COMPLETED';
  sendJson(exchange.response, isOver ? 200 : 202, {
    ...addressesOf(vendor, exchange, path),
    request_id: shown,
    status,
    ...(isOver ? { logs: [], metrics: {} } : { queue_position: 0 }),
  });
}

/** `GET /fal/{app}/requests/{id}`: the result, or the error of the request. @throws VendorRefusal */
export function falResult(vendor: Vendor, exchange: Exchange, path: string): void {
  const { response } = exchange;
  const nowMs = vendor.clock.nowMs();
  const job = vendor.jobs.find(idOf(path));
  const task = job ?? vendor.videos.find(idOf(path));
  if (!task) throw new VendorRefusal(404, 'not_found', 'Request not found');
  refuseUnlessOver(stateAt(task, nowMs));
  if (
    job ? isSpoiled(vendor.jobs, job, 'early-end') : isSpoiled(vendor.videos, task as VideoTask, 'early-end')
  )
    throw tooEarly();
  response.setHeader('x-fal-request-id', task.id);
  refuseResult(task, LATE);
  if (job) {
    const images = job.addresses.map((url) => ({ url, content_type: 'image/png' }));
    return sendJson(response, 200, {
      images,
      has_nsfw_concepts: images.map(() => false),
      prompt: job.prompt,
    });
  }
  sendJson(response, 200, { video: { url: filmUrl(vendor, exchange, task), content_type: 'video/mp4' } });
}

/** This error has no type. */
function tooEarly(): VendorRefusal {
  return new VendorRefusal(400, '', 'Request is still in progress');
}

function refuseUnlessOver({ phase }: VendorTaskState): void {
  if (phase === 'failed') throw new VendorRefusal(500, 'runner_server_error', 'It failed as ordered.');
  if (phase !== 'completed') throw tooEarly();
}

/** `PUT /fal/{app}/requests/{id}/cancel`. */
export function cancelAtFal(vendor: Vendor, { response }: Exchange, path: string): void {
  if (!cancelJob(vendor, idOf(path))) return sendJson(response, 400, { status: 'ALREADY_COMPLETED' });
  sendJson(response, 202, { status: 'CANCELLATION_REQUESTED' });
}
