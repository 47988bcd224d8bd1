import { createHash, randomUUID } from 'node:crypto';
import { readJsonBody, VendorRefusal, sendJson, refusedField } from './answers.js';
import { deliver } from './delivery.js';
import { readDirectives } from './directives.js';
import {
  type Area,
  captionOf,
  type Exchange,
  optionalTextField,
  publicOriginOf,
  readAspectRatio,
  readSize,
  requiredTextField,
  seedOf,
  type Vendor,
} from './vendor.js';
import { acceptTask, answered, requireFile, shownId, spoilPoll } from './task-calls.js';
import { endOf, stateAt, type VendorTaskState, type VideoTask } from './vendor-tasks.js';
import { announceEnd } from './webhooks/task-webhooks.js';

const DEFAULT_SECONDS = 5;
/** Twenty seconds of video take the drawing thread about a third of a second. */
const MAX_SECONDS = 20;
/** The longer side of the file, whatever was requested. A video of the sandbox is real, but need not be large. */
const LONG_SIDE = 320;
const SIDES = { min: 16, max: 4096 };
const SHORT_SIDES: Record<string, number> = { '480p': 480, '720p': 720, '1080p': 1080 };
const MAX_KEPT_PROMPT = 1_000;
const IMAGE_FIELDS = /^(image|images|input_reference|reference_images|video)(\[|$)/;

/** `POST /v1/videos` (OpenAI form) and `POST /v1/videos/generations` (xAI form). */
export async function createVideo(
  vendor: Vendor,
  exchange: Exchange,
  dialect: 'openai' | 'xai',
): Promise<void> {
  vendor.stats.videoCreates += 1;
  const body = await readJsonBody(exchange.request);
  const task = await acceptVideo(vendor, exchange, readVideoTask(vendor, body, dialect));
  if (!task) return;
  if (dialect === 'xai') return sendJson(exchange.response, 200, { request_id: task.id });
  sendJson(exchange.response, 200, openaiVideo(task, { phase: 'queued', progress: 0 }));
}

/** `POST /v1/videos/{id}/remix`: only the prompt changes. */
export async function remixVideo(vendor: Vendor, exchange: Exchange, id: string): Promise<void> {
  vendor.stats.videoCreates += 1;
  const { prompt } = await readJsonBody(exchange.request);
  const source = foundVideo(vendor, id);
  if (stateAt(source, vendor.clock.nowMs()).phase !== 'completed')
    throw new VendorRefusal(400, 'video_not_ready', 'The video is not finished.');
  const seconds = String(source.drawing.seconds);
  const body = { model: source.model, prompt, seconds, size: source.size };
  const remix = { ...readVideoTask(vendor, body, 'openai'), remixOf: id };
  remix.inputHash = hashOf(`${id}\n${remix.inputHash}`);
  const task = await acceptVideo(vendor, exchange, remix);
  if (task) sendJson(exchange.response, 200, openaiVideo(task, { phase: 'queued', progress: 0 }));
}

/** The task to answer with, new or repeated. Undefined if its prompt requests no answer. */
export async function acceptVideo(
  vendor: Vendor,
  exchange: Exchange,
  task: VideoTask,
): Promise<VideoTask | undefined> {
  const accepted = acceptTask(vendor.videos, exchange, task);
  if (accepted !== task) {
    vendor.stats.videoRepeats += 1;
    return accepted;
  }
  vendor.stats.videosAccepted += 1;
  announceEnd(vendor, task, vendor.webhookKeys.endpoints.get(task.dialect));
  return answered(vendor, exchange, task);
}

const IDS: Record<VideoTask['dialect'], () => string> = {
  xai: () => randomUUID(),
  openai: () => `video_${randomUUID().replaceAll('-', '')}`,
  google: () => randomUUID().replaceAll('-', ''),
  vertex: () => randomUUID(),
  fal: () => randomUUID(),
  replicate: () => randomUUID().replaceAll('-', ''),
  ark: () => `cgt-${randomUUID()}`,
};

/** Reads a body with the fields of the OpenAI and xAI forms. @throws VendorRefusal */
export function readVideoTask(
  vendor: Vendor,
  body: Record<string, unknown>,
  dialect: VideoTask['dialect'],
): VideoTask {
  refuseImages(body);
  const model = requiredTextField(body, 'model');
  const prompt = requiredTextField(body, 'prompt');
  const directives = readDirectives(prompt);
  const drawing = drawingOf(body, directives.caption);
  return {
    id: IDS[dialect](),
    dialect,
    model,
    prompt: prompt.slice(0, MAX_KEPT_PROMPT),
    size: shownSize(body, drawing),
    audio: typeof body['generate_audio'] === 'boolean' ? body['generate_audio'] : null,
    drawing,
    faults: directives.faults,
    createdAtMs: vendor.clock.nowMs(),
    workMs: directives.workMs ?? vendor.settings.videoMs,
    spoiledPolls: 0,
    idempotencyKey: null,
    inputHash: hashOf(`${dialect}\n${JSON.stringify(body)}`),
  };
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function refuseImages(body: Record<string, unknown>): void {
  const param = Object.keys(body).find((name) => IMAGE_FIELDS.test(name) && body[name] != null);
  if (param === undefined) return;
  const message = 'Videos are made from text only.';
  throw new VendorRefusal(422, 'image_input_not_supported', { message, param });
}

function drawingOf(body: Record<string, unknown>, caption: string) {
  return {
    kind: 'movie' as const,
    // Directives outside the caption do not change the video.
    seed: seedOf(caption, 0),
    caption: captionOf(caption),
    ...frameOf(body),
    seconds: readSeconds(body),
  };
}

/** `seconds` is a text (OpenAI), `duration` a number or a text (xAI); whole seconds either way. */
function readSeconds(body: Record<string, unknown>): number {
  const seconds = optionalTextField(body, 'seconds');
  const duration = body['duration'] ?? undefined;
  if (seconds !== undefined && duration !== undefined && Number(seconds) !== Number(duration)) {
    throw refusedField('seconds', 'The fields "seconds" and "duration" differ.');
  }
  const value = seconds ?? duration ?? DEFAULT_SECONDS;
  const param = seconds === undefined ? 'duration' : 'seconds';
  const count =
    typeof value === 'number' || (typeof value === 'string' && /^\d{1,3}$/.test(value)) ? Number(value) : NaN;
  if (Number.isInteger(count) && count >= 1 && count <= MAX_SECONDS) return count;
  throw refusedField(param, `A video has 1 to ${MAX_SECONDS} whole seconds.`);
}

function frameOf(body: Record<string, unknown>): Area {
  const ratio = optionalTextField(body, 'aspect_ratio');
  if (ratio !== undefined && ratio !== 'auto') return readAspectRatio(ratio, LONG_SIDE);
  const size = optionalTextField(body, 'size');
  if (size === undefined || size === 'auto') return readAspectRatio('16:9', LONG_SIDE);
  const { width, height } = readSize(size, SIDES);
  return readAspectRatio(`${width}:${height}`, LONG_SIDE);
}

function shownSize(body: Record<string, unknown>, frame: Area): string {
  const resolution = optionalTextField(body, 'resolution') ?? '720p';
  const shortSide = SHORT_SIDES[resolution];
  if (shortSide === undefined) {
    throw refusedField('resolution', 'A resolution is 480p, 720p or 1080p.');
  }
  const size = optionalTextField(body, 'size');
  if (size !== undefined && size !== 'auto') return size;
  const scale = shortSide / Math.min(frame.width, frame.height);
  return `${Math.round(frame.width * scale)}x${Math.round(frame.height * scale)}`;
}

/** `GET /v1/videos/{id}`. */
export function pollVideo(vendor: Vendor, exchange: Exchange, id: string): void {
  vendor.stats.polls += 1;
  const task = foundVideo(vendor, id);
  const word = spoilPoll(vendor.videos, task);
  const state = stateAt(task, vendor.clock.nowMs());
  const shown = { ...openaiVideo(task, state, word), id: shownId(vendor.videos, task) };
  if (task.dialect === 'openai') return sendJson(exchange.response, 200, shown);
  const status = word === undefined && (state.phase === 'queued' || state.phase === 'working') ? 202 : 200;
  sendJson(
    exchange.response,
    status,
    xaiVideo(task, state, { word, origin: publicOriginOf(vendor, exchange.request) }),
  );
}

const OPENAI_WORDS = { queued: 'queued', working: 'in_progress', completed: 'completed', failed: 'failed' };
export const FAILURE = { code: 'generation_failed', message: 'The generation failed as ordered.' };

function openaiVideo(task: VideoTask, { phase, progress }: VendorTaskState, word?: string) {
  const isCompleted = phase === 'completed';
  return {
    id: task.id,
    object: 'video',
    model: task.model,
    status: word ?? (isCompleted && task.faults.includes('done-word') ? 'done' : OPENAI_WORDS[phase]),
    progress,
    created_at: Math.floor(task.createdAtMs / 1000),
    completed_at: isCompleted ? Math.floor(endOf(task) / 1000) : null,
    expires_at: null,
    seconds: String(task.drawing.seconds),
    size: task.size,
    prompt: task.prompt,
    remixed_from_video_id: task.remixOf ?? null,
    error: phase === 'failed' ? FAILURE : null,
  };
}

function xaiVideo(
  task: VideoTask,
  { phase, progress }: VendorTaskState,
  with_: { word?: string; origin: string },
) {
  if (with_.word !== undefined) return { status: with_.word, progress };
  if (phase === 'queued' || phase === 'working') return { status: 'pending', progress };
  if (phase === 'failed') {
    return { status: 'failed', video: { duration: 0, respect_moderation: true }, model: '', error: FAILURE };
  }
  const url = `${with_.origin}/files/videos/${task.id}.mp4`;
  return {
    status: task.faults.includes('done-word') ? 'completed' : 'done',
    video: { url, duration: task.drawing.seconds, respect_moderation: true },
    model: task.model,
    progress,
  };
}

/** `GET /v1/videos/{id}/content`: of the OpenAI form only, as with the vendors. */
export async function downloadVideo(vendor: Vendor, exchange: Exchange, id: string): Promise<void> {
  const task = foundVideo(vendor, id);
  if (task.dialect === 'xai')
    throw new VendorRefusal(404, 'unknown_url', 'The file is at the address of video.url.');
  await deliverVideo(vendor, exchange, task);
}

/** `GET /files/videos/{id}.mp4`: needs no key, as with the vendors; nobody can guess the id. */
export async function serveVideo(vendor: Vendor, exchange: Exchange, id: string): Promise<void> {
  await deliverVideo(vendor, exchange, foundVideo(vendor, id));
}

export async function deliverVideo(vendor: Vendor, exchange: Exchange, task: VideoTask): Promise<void> {
  vendor.stats.downloads += 1;
  requireFile(vendor, task, 'video');
  const bytes = await vendor.renderer.draw(task.drawing);
  await deliver(vendor, exchange, { bytes, contentType: 'video/mp4', faults: task.faults });
}

export function foundVideo(vendor: Vendor, id: string): VideoTask {
  const task = vendor.videos.find(id);
  if (!task) throw new VendorRefusal(404, 'video_not_found', 'There is no such video.');
  return task;
}
