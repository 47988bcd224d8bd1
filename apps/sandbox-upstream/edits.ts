import { readFormBody, readJsonBody, VendorRefusal, refusedField } from './answers.js';
import { deliver } from './delivery.js';
import { type Directives, type Fault, INSTANT, readDirectives } from './directives.js';
import type { Drawing } from './drawing.worker.js';
import { answerInstantly, fulfil, type ImageOrder, readImageOrder } from './images.js';
import { captionOf, type Exchange, publicOriginOf, seedOf, type Vendor } from './vendor.js';

const MAX_IMAGES = 16;
const IMAGE_HEADS = [
  Buffer.from('89504e470d0a1a0a', 'hex'),
  Buffer.from('ffd8ff', 'hex'),
  Buffer.from('RIFF', 'latin1'),
];

interface EditInput {
  body: Record<string, unknown>;
  images: Buffer[];
}

/** `POST /v1/images/edits`: a form as OpenAI takes it, or JSON as xAI takes it. The first image is the one altered. */
export async function editImages(vendor: Vendor, exchange: Exchange): Promise<void> {
  vendor.stats.imagesRequests += 1;
  const { body, images } = await readInput(exchange);
  const order = readImageOrder(body);
  const [original] = images;
  if (!original) throw refusedField('image', 'An edit needs an image.', 'missing_required_parameter');
  if (order.prompt.includes(INSTANT)) return answerInstantly(vendor, exchange, order);
  const directives = readDirectives(order.prompt);
  const drawing = (index: number) => alterationOf({ order, directives, original }, index);
  const address = (of: Drawing) => keepEdit(vendor, exchange, { drawing: of, faults: directives.faults });
  await fulfil(vendor, exchange, { order, directives, drawing, address, eventName: 'image_edit' });
  vendor.stats.editsMade += 1;
}

/** How one image of the answer alters the original. */
export function alterationOf(
  { order, directives, original }: { order: ImageOrder; directives: Directives; original: Buffer },
  index: number,
): Drawing {
  const { width, height } = order.area ?? { width: 0, height: 0 };
  const caption = captionOf(directives.caption);
  return { kind: 'edit', seed: seedOf(order.prompt, index), caption, width, height, seconds: 0, original };
}

/** Draws an edited image, stores it, and returns its URL. */
export async function keepEdit(
  vendor: Vendor,
  { request }: Exchange,
  { drawing, faults }: { drawing: Drawing; faults: readonly Fault[] },
): Promise<string> {
  const bytes = await vendor.renderer.draw(drawing);
  const expiresAtMs = vendor.clock.nowMs() + vendor.settings.fileMs;
  const name = vendor.kept.keep({ bytes, expiresAtMs, faults });
  return `${publicOriginOf(vendor, request)}/files/edits/${name}.png`;
}

async function readInput({ request }: Exchange): Promise<EditInput> {
  const type = request.headers['content-type'] ?? '';
  const input = /^multipart\/form-data\b/i.test(type)
    ? await readForm(await readFormBody(request))
    : readImageFields(await readJsonBody(request));
  if (input.images.length > MAX_IMAGES) {
    throw refusedField('image', `At most ${MAX_IMAGES} images.`);
  }
  if (
    input.images.every((bytes) => IMAGE_HEADS.some((head) => bytes.subarray(0, head.length).equals(head)))
  ) {
    return input;
  }
  throw refusedField('image', 'An image must be a PNG, JPEG or WebP file.', 'invalid_image');
}

async function readForm(form: FormData): Promise<EditInput> {
  const body: Record<string, unknown> = {};
  const images: Buffer[] = [];
  for (const [name, value] of form) {
    if (typeof value === 'string') body[name] = name === 'n' ? Number(value) : value;
    else if (/^image(\[\d*\])?$/.test(name)) images.push(Buffer.from(await value.arrayBuffer()));
  }
  return { body, images };
}

function readImageFields(body: Record<string, unknown>): EditInput {
  const { image, images } = body;
  if (image && images) throw refusedField('image', 'Either "image" or "images".');
  const values: unknown[] = Array.isArray(images) ? images : [image ?? images];
  return { body, images: values.filter((value) => value != null).map(decodeImage) };
}

export function decodeImage(value: unknown): Buffer {
  const url = typeof value === 'object' && value !== null ? (value as { url?: unknown }).url : value;
  const [, base64] = typeof url === 'string' ? (/^data:[\w/.+-]+;base64,(.+)$/.exec(url) ?? []) : [];
  if (base64) return Buffer.from(base64, 'base64');
  throw refusedField('image', 'An image is {"url": "data:image/png;base64,..."}.', 'invalid_image');
}

/** `GET /files/edits/...`: needs no key. @throws VendorRefusal 404 */
export async function serveEdit(vendor: Vendor, exchange: Exchange, name: string): Promise<void> {
  vendor.stats.downloads += 1;
  const file = vendor.kept.find(name, vendor.clock.nowMs());
  if (!file) throw new VendorRefusal(404, 'file_not_found', 'There is no such image, or no longer.');
  const { bytes, faults } = file;
  await deliver(vendor, exchange, { bytes, contentType: 'image/png', faults });
}
