import { createHmac, timingSafeEqual } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import { readJsonBody, VendorRefusal, sendJson, sendText, refusedField } from './answers.js';
import { deliver } from './delivery.js';
import { type Directives, INSTANT, readDirectives, refuseAsOrdered, type Fault } from './directives.js';
import type { Drawing } from './drawing.worker.js';
import { sendImageEvents, usageOf } from './media/image-events.js';
import { pngOf } from './media/png.js';
import {
  type Area,
  captionOf,
  type Exchange,
  holdUntilClientLeaves,
  optionalTextField,
  publicOriginOf,
  pause,
  readAspectRatio,
  readSize,
  requiredTextField,
  seedOf,
  type Vendor,
} from './vendor.js';

const MAX_IMAGES = 10;
const LONG_SIDE = 1024;
/** Four megapixels. The largest image takes the drawing thread about 150 ms. */
const SIDES = { min: 16, max: 2048 };

export interface ImageOrder {
  prompt: string;
  count: number;
  format: 'url' | 'b64_json';
  /** The number of partial images, if the image is streamed. Otherwise undefined. */
  partialImages?: number | undefined;
  /** Undefined if neither a size nor a ratio was requested. */
  area: Area | undefined;
}

/** What images from text and from other images have in common. */
export interface ImageWork {
  order: ImageOrder;
  directives: Directives;
  drawing(index: number): Drawing;
  /** Precedes the type of each event of a stream. */
  eventName?: string;
  /** The path that serves the image. */
  address(drawing: Drawing): string | Promise<string>;
}

/** `POST /v1/images/generations`. */
export async function createImages(vendor: Vendor, exchange: Exchange): Promise<void> {
  vendor.stats.imagesRequests += 1;
  const order = readImageOrder(await readJsonBody(exchange.request));
  if (order.prompt.includes(INSTANT)) return answerInstantly(vendor, exchange, order);
  const directives = readDirectives(order.prompt);
  await fulfil(vendor, exchange, {
    order,
    directives,
    drawing: (index) => drawingOf(order, directives, index),
    address: (drawing) => addressOf(vendor, exchange, { drawing, faults: directives.faults }),
  });
}

/** Does the work, and answers or fails as requested. @throws VendorRefusal */
export async function fulfil(vendor: Vendor, exchange: Exchange, work: ImageWork): Promise<void> {
  const { faults, workMs } = work.directives;
  refuseAsOrdered(faults);
  await pause(vendor, workMs ?? vendor.settings.imageMs);
  const isStreamed = work.order.partialImages !== undefined;
  if (faults.includes('never-finish') && !isStreamed) return holdUntilClientLeaves(vendor, exchange.response);
  if (faults.includes('fail-late')) {
    throw new VendorRefusal(500, 'generation_failed', 'The generation failed as ordered.');
  }
  const { prompt, partialImages } = work.order;
  if (partialImages === undefined) return answer(vendor, exchange, work);
  const [drawing, name] = [work.drawing(0), nameOf(work)];
  await sendImageEvents(vendor, exchange, {
    prompt,
    partialImages,
    directives: work.directives,
    drawing,
    name,
  });
}

function nameOf({ eventName = 'image_generation' }: ImageWork): string {
  return eventName;
}

/** The drawings of an order, or one fewer if requested. @throws VendorRefusal 500 if none is left. */
export function drawingsOf({ order, directives, drawing }: Omit<ImageWork, 'address'>): Drawing[] {
  const count = directives.faults.includes('partial') ? order.count - 1 : order.count;
  if (count === 0) throw new VendorRefusal(500, 'generation_failed', 'No image came out of it, as ordered.');
  return Array.from({ length: count }, (_, index) => drawing(index));
}

async function answer(vendor: Vendor, exchange: Exchange, work: ImageWork): Promise<void> {
  const { directives } = work;
  const { faults, caption } = directives;
  const { format, prompt } = work.order;
  const isInlined = format === 'b64_json';
  const data = await Promise.all(
    drawingsOf(work).map(async (drawing) =>
      isInlined ? inlined(vendor, drawing) : { url: await work.address(drawing) },
    ),
  );
  vendor.stats.imagesMade += data.length;
  if (faults.includes('accept-then-timeout')) return holdUntilClientLeaves(vendor, exchange.response);
  const result = {
    created: Math.floor(vendor.clock.nowMs() / 1000),
    data: data.map((image) => ({ ...image, mime_type: 'image/png', revised_prompt: caption })),
    ...usageOf({ prompt, images: data.length, partialImages: 0, directives, name: nameOf(work) }),
  };
  // With URLs, the fault is in the files, not in the answer.
  if (!isInlined) return sendJson(exchange.response, 200, result);
  const answerFaults = faults.filter((fault) => fault !== 'bad-file');
  const bytes = Buffer.from(JSON.stringify(result));
  return deliver(vendor, exchange, { bytes, contentType: 'application/json', faults: answerFaults });
}

/** Reads the fields that all image calls share. @throws VendorRefusal 400 */
export function readImageOrder(body: Record<string, unknown>): ImageOrder {
  requiredTextField(body, 'model');
  const prompt = requiredTextField(body, 'prompt');
  const count = body['n'] ?? 1;
  if (!Number.isInteger(count) || (count as number) < 1 || (count as number) > MAX_IMAGES) {
    throw refusedField('n', `The field "n" must be a whole number from 1 to ${MAX_IMAGES}.`);
  }
  const format = optionalTextField(body, 'response_format') ?? 'url';
  if (format !== 'url' && format !== 'b64_json') {
    throw refusedField('response_format', 'A response format is url or b64_json.');
  }
  const isStreamed = body['stream'] === true || body['stream'] === 'true';
  const partialImages = isStreamed ? Number(body['partial_images'] ?? 0) : undefined;
  return { prompt, count: count as number, format, partialImages, area: readArea(body) };
}

function readArea(body: Record<string, unknown>): Area | undefined {
  const size = optionalTextField(body, 'size') ?? 'auto';
  if (size !== 'auto') return readSize(size, SIDES);
  const ratio = optionalTextField(body, 'aspect_ratio') ?? 'auto';
  return ratio === 'auto' ? undefined : readAspectRatio(ratio, LONG_SIDE);
}

export function drawingOf({ prompt, area }: ImageOrder, { caption }: Directives, index: number): Drawing {
  const seed = seedOf(prompt, index);
  const square = { width: LONG_SIDE, height: LONG_SIDE };
  return { kind: 'image', seed, caption: captionOf(caption), ...(area ?? square), seconds: 0 };
}

async function inlined(vendor: Vendor, drawing: Drawing): Promise<{ b64_json: string }> {
  return { b64_json: (await vendor.renderer.draw(drawing)).toString('base64') };
}

// ---- Files: the address holds all that is needed to draw the image, so nothing is kept and a restart loses none.

type Ticket = [
  seed: string,
  caption: string,
  width: number,
  height: number,
  expiresAtMs: number,
  faults: Fault[],
];

export function addressOf(
  vendor: Vendor,
  { request }: Exchange,
  of: { drawing: Drawing; faults: Fault[] },
): string {
  const { seed, caption, width, height } = of.drawing;
  const ticket: Ticket = [
    seed,
    caption,
    width,
    height,
    vendor.clock.nowMs() + vendor.settings.fileMs,
    of.faults,
  ];
  const text = Buffer.from(JSON.stringify(ticket)).toString('base64url');
  return `${publicOriginOf(vendor, request)}/files/images/${text}.${sign(vendor, text)}.png`;
}

function sign(vendor: Vendor, text: string): string {
  return createHmac('sha256', vendor.settings.apiKey).update(text).digest('base64url').slice(0, 22);
}

/** `GET /files/images/...`: needs no key, as with the vendors. @throws VendorRefusal 404 for a forged or expired address. */
export async function serveImage(vendor: Vendor, exchange: Exchange, name: string): Promise<void> {
  vendor.stats.downloads += 1;
  const ticket = readTicket(vendor, name);
  if (!ticket) throw new VendorRefusal(404, 'file_not_found', 'There is no such image, or no longer.');
  const [seed, caption, width, height, , faults] = ticket;
  const bytes = await vendor.renderer.draw({ kind: 'image', seed, caption, width, height, seconds: 0 });
  await deliver(vendor, exchange, { bytes, contentType: 'image/png', faults });
}

function readTicket(vendor: Vendor, name: string): Ticket | undefined {
  const [text = '', signature = ''] = name.split('.');
  const given = Buffer.from(signature);
  const right = Buffer.from(sign(vendor, text));
  if (given.length !== right.length || !timingSafeEqual(given, right)) return undefined;
  const ticket = JSON.parse(Buffer.from(text, 'base64url').toString()) as Ticket;
  return ticket[4] >= vendor.clock.nowMs() ? ticket : undefined;
}

// ---- The instant image: constant, so that a benchmark measures the relay and not the drawing.

/** A grey PNG of 16x16 pixels: a zero filter byte and 16 grey values in each row. */
export const instantPng = pngOf({
  width: 16,
  height: 16,
  colorType: 0,
  data: deflateSync(Buffer.alloc(16 * 17)),
});
const instantB64 = JSON.stringify({ b64_json: instantPng.toString('base64') });

export function answerInstantly(vendor: Vendor, { request, response }: Exchange, order: ImageOrder): void {
  vendor.stats.imagesMade += order.count;
  const image =
    order.format === 'b64_json'
      ? instantB64
      : `{"url":"${publicOriginOf(vendor, request)}/files/instant.png"}`;
  const data = order.count === 1 ? image : Array<string>(order.count).fill(image).join(',');
  sendText(response, 200, `{"created":${Math.floor(vendor.clock.nowMs() / 1000)},"data":[${data}]}`);
}
