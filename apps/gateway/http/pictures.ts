import { ApiError } from '#platform/errors.js';
import { sniffMediaType } from '#upstream/media-type.js';
import type { InputImage } from '#upstream/outcomes.js';
import { type Body, isAbsent } from './fields.js';
import { MAX_PICTURE_BYTES } from './limits.js';

/** A picture in a request: its bytes, or the address that it is to be fetched from. */
export type PictureInput =
  | { readonly kind: 'bytes'; readonly bytes: Buffer; readonly param: string }
  | { readonly kind: 'address'; readonly url: URL; readonly param: string };

/** What every upstream reads. */
const ACCEPTED = new Map([
  ['image/png', 'png'],
  ['image/jpeg', 'jpg'],
  ['image/webp', 'webp'],
]);
/** The names under which an object may hold a picture, address or base64. */
const MEMBERS = ['url', 'image_url', 'b64_json', 'data'];

/**
 * Reads the pictures under a name in every form that clients use: text, an object, or a list of them. Absent: none.
 * @throws ApiError invalid_type, invalid_image
 */
export function readPictures(body: Body, param: string): PictureInput[] {
  const value = body[param];
  if (isAbsent(value)) return [];
  return (Array.isArray(value) ? value : [value]).map((each: unknown) => readPicture(each, param));
}

/** One picture: an address, a data URL or base64, bare or in an object. @throws ApiError invalid_type, invalid_image */
export function readPicture(value: unknown, param: string): PictureInput {
  const text = textOf(value);
  if (text === undefined) {
    throw new ApiError('invalid_type', `${param} must be an address, a data URL or base64.`, { param });
  }
  if (!isAddress(text)) return { kind: 'bytes', bytes: decodeBase64(text, param), param };
  if (!URL.canParse(text)) throw new ApiError('invalid_image', `${param} is not a valid address.`, { param });
  return { kind: 'address', url: new URL(text), param };
}

/** True for http(s) addresses, in any case. */
export function isAddress(text: string): boolean {
  return /^\s*https?:/i.test(text);
}

/** The text of a picture, at most two objects deep: `{image_url: {url}}`. */
export function textOf(value: unknown, depth = 2): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null || depth === 0) return undefined;
  const member = MEMBERS.find((name) => !isAbsent((value as Body)[name]));
  return member === undefined ? undefined : textOf((value as Body)[member], depth - 1);
}

/** The bytes of base64, with or without the head of a data URL. @throws ApiError invalid_image */
export function decodeBase64(text: string, param: string): Buffer {
  const comma = /^\s*data:/i.test(text) ? text.indexOf(',') : -1;
  const isOther = comma >= 0 && !/;base64$/i.test(text.slice(0, comma));
  const base64 = text
    .slice(comma + 1)
    .replace(/\s+/g, '')
    .replace(/=+$/, '');
  // The decoder would skip what is no base64.
  if (isOther || base64.length % 4 === 1 || !/^[A-Za-z0-9+/_-]+$/.test(base64)) {
    throw new ApiError('invalid_image', `${param} is not valid base64.`, { param });
  }
  return Buffer.from(base64, 'base64');
}

/** A picture by what its bytes are, whatever the client called it. @throws ApiError invalid_image, request_too_large */
export function checkedPicture(bytes: Buffer, param: string, ordinal: number): InputImage {
  if (bytes.length > MAX_PICTURE_BYTES) {
    const message = `A picture has at most ${MAX_PICTURE_BYTES} bytes, not ${bytes.length}.`;
    throw new ApiError('request_too_large', message, { param });
  }
  const mime = sniffMediaType(bytes)?.mime ?? '';
  const extension = ACCEPTED.get(mime);
  if (extension === undefined) {
    throw new ApiError('invalid_image', `${param} must be a PNG, JPEG or WebP picture.`, { param });
  }
  return { bytes, mime, name: `${param}-${ordinal}.${extension}` };
}
