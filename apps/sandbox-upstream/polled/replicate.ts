import { CONTENT_REFUSED, readJsonBody, sendJson, VendorRefusal } from '../answers.js';
import type { Fault } from '../directives.js';
import { readImageOrder } from '../images.js';
import { type Exchange, publicOriginOf, type Vendor } from '../vendor.js';
import type { ImageJob, VendorTask } from '../vendor-tasks.js';
import { acceptFilm, acceptImages, cancelJob, filmUrl, pollOf, refuseResult, sizeOf } from './jobs.js';

/** The base path on the sandbox. The vendor has a separate host for it. */
const BASE = '/replicate/v1';
/** The model checks the content. */
const LATE: readonly Fault[] = ['moderation'];
const WORDS = { queued: 'starting', working: 'processing', completed: 'succeeded', failed: 'failed' };

type Json = Record<string, unknown>;

/** `POST /replicate/v1/models/{owner}/{name}/predictions`, and `/v1/predictions` with a version. A model with `video` in its name makes a video. */
export async function predictAtReplicate(vendor: Vendor, exchange: Exchange, name: string): Promise<void> {
  const body = await readJsonBody(exchange.request);
  const input = (body['input'] ?? {}) as Json;
  const model = name || body['version'];
  if (typeof model !== 'string')
    throw new VendorRefusal(422, 'Input validation failed', '- version: is required');
  const { webhook } = body;
  const film = { body: { ...input, model }, dialect: 'replicate' as const, late: LATE, webhook };
  const task = model.includes('video')
    ? await acceptFilm(vendor, exchange, film)
    : await acceptImages(vendor, exchange, {
        model,
        order: readImageOrder({ ...input, model, n: input['num_outputs'], size: sizeOf(input) }),
        originals: [],
        late: LATE,
      });
  if (task) sendJson(exchange.response, 201, predictionOf(vendor, exchange, { task, status: 'starting' }));
}

function predictionOf(
  vendor: Vendor,
  { request }: Exchange,
  { task, ...shown }: { task: VendorTask; status: string; output?: unknown; error?: string; id?: string },
) {
  const at = `${publicOriginOf(vendor, request)}${BASE}/predictions/${task.id}`;
  return {
    id: task.id,
    model: task.model,
    version: 'hidden',
    urls: { get: at, cancel: `${at}/cancel` },
    input: { prompt: task.prompt },
    created_at: new Date(task.createdAtMs).toISOString(),
    output: null,
    error: null,
    logs: '',
    ...shown,
  };
}

/** `GET /replicate/v1/predictions/{id}`. */
export function replicatePrediction(vendor: Vendor, exchange: Exchange, id: string): void {
  const { task, state, strange, shown } = pollOf(vendor, id);
  const answer = (status: string, more: object = {}) =>
    sendJson(exchange.response, 200, predictionOf(vendor, exchange, { task, status, id: shown, ...more }));
  if (strange !== undefined) return answer(strange);
  if (state.phase === 'failed') return answer(WORDS.failed, { error: 'It failed as ordered.' });
  if (state.phase !== 'completed') return answer(WORDS[state.phase]);
  try {
    refuseResult(task, LATE);
  } catch (error) {
    if (!(error instanceof VendorRefusal && error.code === CONTENT_REFUSED)) throw error;
    return answer(WORDS.failed, {
      error: 'NSFW content detected. Try running it again, or try another prompt.',
    });
  }
  const addresses = (task as Partial<ImageJob>).addresses;
  answer(WORDS.completed, { output: addresses ?? filmUrl(vendor, exchange, task) });
}

/** `POST /replicate/v1/predictions/{id}/cancel`. */
export function cancelAtReplicate(vendor: Vendor, exchange: Exchange, id: string): void {
  const status = cancelJob(vendor, id) ? 'canceled' : WORDS.completed;
  const { task } = pollOf(vendor, id);
  sendJson(exchange.response, 200, predictionOf(vendor, exchange, { task, status }));
}
