import { readJsonBody, sendJson } from '../answers.js';
import { readDirectives } from '../directives.js';
import { decodeImage, keepEdit } from '../edits.js';
import { addressOf, drawingOf, fulfil, readImageOrder } from '../images.js';
import { captionOf, type Exchange, seedOf, type Vendor } from '../vendor.js';
import type { Drawing } from '../drawing.worker.js';
import { FAILURE } from '../videos.js';
import { acceptFilm, cancelJob, filmUrl, pollOf } from './jobs.js';

const WORDS = { queued: 'queued', working: 'running', completed: 'succeeded', failed: 'failed' };

type Json = Record<string, unknown>;

/** `POST /ark/v3/images/generations`: one image, from text or from the images sent. */
export async function createAtArk(vendor: Vendor, exchange: Exchange): Promise<void> {
  vendor.stats.imagesRequests += 1;
  const body = await readJsonBody(exchange.request);
  const order = readImageOrder({ ...body, n: 1 });
  const directives = readDirectives(order.prompt);
  const [original] = [body['image'] ?? []].flat().map(decodeImage);
  const { faults } = directives;
  const edit = (index: number): Drawing => ({
    kind: 'edit',
    seed: seedOf(order.prompt, index),
    caption: captionOf(directives.caption),
    ...(order.area ?? { width: 0, height: 0 }),
    seconds: 0,
    original: original ?? Buffer.alloc(0),
  });
  await fulfil(vendor, exchange, {
    order,
    directives,
    drawing: original ? edit : (index) => drawingOf(order, directives, index),
    address: (drawing) =>
      original
        ? keepEdit(vendor, exchange, { drawing, faults })
        : addressOf(vendor, exchange, { drawing, faults }),
  });
}

/** `POST /ark/v3/contents/generations/tasks`. */
export async function createArkTask(vendor: Vendor, exchange: Exchange): Promise<void> {
  const { content, ratio, ...body } = await readJsonBody(exchange.request);
  const texts = (Array.isArray(content) ? (content as Json[]) : []).filter(({ type }) => type === 'text');
  const prompt = texts.map(({ text }) => text).join(' ');
  const fields = { ...body, prompt, aspect_ratio: ratio };
  const task = await acceptFilm(vendor, exchange, { body: fields, dialect: 'ark', late: [] });
  if (task) sendJson(exchange.response, 200, { id: task.id });
}

/** `GET /ark/v3/contents/generations/tasks/{id}`. */
export function arkTask(vendor: Vendor, exchange: Exchange, id: string): void {
  const { task, state, strange, shown } = pollOf(vendor, id);
  const isOver = strange === undefined && state.phase === 'completed';
  sendJson(exchange.response, 200, {
    id: shown,
    model: task.model,
    status: strange ?? WORDS[state.phase],
    content: isOver ? { video_url: filmUrl(vendor, exchange, task) } : undefined,
    error: state.phase === 'failed' ? FAILURE : null,
  });
}

/** `DELETE /ark/v3/contents/generations/tasks/{id}`. */
export function cancelAtArk(vendor: Vendor, { response }: Exchange, id: string): void {
  cancelJob(vendor, id);
  sendJson(response, 200, {});
}
