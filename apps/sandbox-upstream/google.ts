import { readJsonBody, VendorRefusal, sendJson } from './answers.js';
import { deliver } from './delivery.js';
import { type Directives, INSTANT, readDirectives, refuseAsOrdered } from './directives.js';
import { drawingOf, drawingsOf, type ImageOrder, instantPng } from './images.js';
import { shownId, spoilPoll } from './task-calls.js';
import {
  holdUntilClientLeaves,
  publicOriginOf,
  pause,
  readAspectRatio,
  type Exchange,
  type Vendor,
} from './vendor.js';
import { stateAt, type VideoTask } from './vendor-tasks.js';
import { acceptVideo, deliverVideo, FAILURE, foundVideo, readVideoTask } from './videos.js';

type Json = Record<string, unknown>;

const MAX_SAMPLES = 4;
const LONG_SIDE = 1024;
/** The code of google.rpc.Status for a server error. */
const INTERNAL = 13;

/** `POST /v1beta/models/{model}:predict`. */
export async function predict(vendor: Vendor, exchange: Exchange): Promise<void> {
  vendor.stats.imagesRequests += 1;
  const order = readPrediction(readInput(await readJsonBody(exchange.request)));
  if (order.prompt.includes(INSTANT)) {
    vendor.stats.imagesMade += order.count;
    return sendJson(exchange.response, 200, predictionsOf(Array<Buffer>(order.count).fill(instantPng)));
  }
  const directives = readDirectives(order.prompt);
  refuseAsOrdered(directives.faults);
  await pause(vendor, directives.workMs ?? vendor.settings.imageMs);
  await answerPrediction(vendor, exchange, { order, directives });
}

async function answerPrediction(
  vendor: Vendor,
  exchange: Exchange,
  { order, directives }: { order: ImageOrder; directives: Directives },
): Promise<void> {
  const { faults } = directives;
  if (faults.includes('never-finish')) return holdUntilClientLeaves(vendor, exchange.response);
  if (faults.includes('fail-late'))
    throw new VendorRefusal(500, 'internal', 'The generation failed as ordered.');
  const drawings = drawingsOf({ order, directives, drawing: (index) => drawingOf(order, directives, index) });
  const images = await Promise.all(drawings.map((drawing) => vendor.renderer.draw(drawing)));
  vendor.stats.imagesMade += images.length;
  if (faults.includes('accept-then-timeout')) return holdUntilClientLeaves(vendor, exchange.response);
  const bytes = Buffer.from(JSON.stringify(predictionsOf(images)));
  return deliver(vendor, exchange, { bytes, contentType: 'application/json', faults });
}

function predictionsOf(images: Buffer[]) {
  return {
    predictions: images.map((bytes) => ({
      mimeType: 'image/png',
      bytesBase64Encoded: bytes.toString('base64'),
    })),
  };
}

interface Input {
  instance: Json;
  parameters: Json;
}

function readInput(body: Json): Input {
  const instances: unknown[] = Array.isArray(body['instances']) ? body['instances'] : [];
  const [instance] = instances;
  if (instances.length !== 1 || typeof instance !== 'object' || instance === null) {
    throw new VendorRefusal(400, 'invalid_argument', 'Exactly one instance is needed.');
  }
  return { instance: instance as Json, parameters: (body['parameters'] ?? {}) as Json };
}

function promptOf({ instance }: Input): string {
  const { prompt } = instance;
  if (typeof prompt === 'string' && prompt.trim() !== '') return prompt;
  throw new VendorRefusal(400, 'invalid_argument', 'instances[0].prompt must be a text.');
}

function readPrediction(input: Input): ImageOrder {
  const { sampleCount = MAX_SAMPLES, aspectRatio = '1:1' } = input.parameters;
  const count = Number(sampleCount);
  if (!Number.isInteger(count) || count < 1 || count > MAX_SAMPLES) {
    throw new VendorRefusal(400, 'invalid_argument', `sampleCount is 1 to ${MAX_SAMPLES}.`);
  }
  if (typeof aspectRatio !== 'string')
    throw new VendorRefusal(400, 'invalid_argument', 'aspectRatio is a text.');
  const area = readAspectRatio(aspectRatio, LONG_SIDE);
  return { prompt: promptOf(input), count, format: 'b64_json', area };
}

/** `POST /v1beta/models/{model}:predictLongRunning`. */
export async function predictLongRunning(vendor: Vendor, exchange: Exchange, model: string): Promise<void> {
  const task = await startVideo(vendor, exchange, { model, wire: 'google' });
  if (task) sendJson(exchange.response, 200, { name: nameOf(task) });
}

/** A video, by the body that the Gemini API and Vertex AI share. @returns undefined if the prompt requests no answer */
export async function startVideo(
  vendor: Vendor,
  exchange: Exchange,
  { model, wire }: { model: string; wire: 'google' | 'vertex' },
): Promise<VideoTask | undefined> {
  vendor.stats.videoCreates += 1;
  const input = readInput(await readJsonBody(exchange.request));
  const { durationSeconds, aspectRatio, resolution, generateAudio } = input.parameters;
  const body = {
    model,
    prompt: promptOf(input),
    image: input.instance['image'],
    duration: durationSeconds,
    aspect_ratio: aspectRatio,
    resolution,
    generate_audio: generateAudio,
  };
  return acceptVideo(vendor, exchange, readVideoTask(vendor, body, wire));
}

function nameOf({ model, id }: { model: string; id: string }): string {
  return `models/${model}/operations/${id}`;
}

/** `GET /v1beta/models/{model}/operations/{id}`. */
export function pollOperation(vendor: Vendor, exchange: Exchange, id: string): void {
  vendor.stats.polls += 1;
  const task = foundVideo(vendor, id);
  const strange = spoilPoll(vendor.videos, task);
  const { phase, progress } = stateAt(task, vendor.clock.nowMs());
  const name = nameOf({ ...task, id: shownId(vendor.videos, task) });
  if (strange !== undefined) return sendJson(exchange.response, 200, { name, metadata: { state: strange } });
  if (phase === 'failed') {
    const error = { code: INTERNAL, message: FAILURE.message, status: 'INTERNAL' };
    return sendJson(exchange.response, 200, { name, done: true, error });
  }
  if (phase !== 'completed') {
    return sendJson(exchange.response, 200, { name, metadata: { progressPercent: progress }, done: false });
  }
  const uri = `${publicOriginOf(vendor, exchange.request)}/v1beta/files/${task.id}:download?alt=media`;
  const generateVideoResponse = { generatedSamples: [{ video: { uri } }] };
  sendJson(exchange.response, 200, { name, done: true, response: { generateVideoResponse } });
}

/** `GET /v1beta/files/{id}:download`: with the key, as with the vendor. */
export async function downloadGoogleFile(vendor: Vendor, exchange: Exchange, id: string): Promise<void> {
  await deliverVideo(vendor, exchange, foundVideo(vendor, id));
}
