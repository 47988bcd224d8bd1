import { ApiError } from '#platform/errors.js';
import { isText, LongText } from '#platform/http/long-text.js';
import { type Body, isAbsent } from './fields.js';
import type { FormFile } from './multipart-body.js';

/** An image from a request, not inspected yet. */
export interface ReceivedImage {
  readonly kind: 'received';
  readonly encoding: 'bytes' | 'base64';
  /** Base64 from within a JSON text. */
  readonly isEscaped: boolean;
  /** Transferred to be read, and gone afterwards. */
  readonly pieces: Iterable<Buffer>;
  readonly byteLength: number;
  readonly param: string;
}

/** An image in a request: its bytes, or the URL to fetch it from. */
export type ImageInput =
  | ReceivedImage
  | { readonly kind: 'address'; readonly url: URL; readonly param: string };

/** The names under which an object can contain an image, as URL or base64. */
const MEMBERS = ['url', 'image_url', 'b64_json', 'data'];
/** Longer than any URL that is fetched. */
const MAX_ADDRESS_CHARS = 16_000;

/**
 * Reads the images under a name in every form that clients use: text, an object, or a list of them. Absent: none.
 * @throws ApiError invalid_type, invalid_image
 */
export function readInputImages(body: Body, param: string): ImageInput[] {
  const value = body[param];
  if (isAbsent(value)) return [];
  return (Array.isArray(value) ? value : [value]).map((each: unknown) => readInputImage(each, param));
}

/** One image: a URL, a data URL or base64, plain or in an object. @throws ApiError invalid_type, invalid_image */
export function readInputImage(value: unknown, param: string): ImageInput {
  const text = imageText(value);
  if (text === undefined) {
    throw new ApiError('invalid_type', `${param} must be a web address, a data URL or base64.`, { param });
  }
  if (!isAddress(text)) return base64Image(text, param);
  const address = String(text).slice(0, MAX_ADDRESS_CHARS);
  if (!URL.canParse(address))
    throw new ApiError('invalid_image', `${param} is not a valid address.`, { param });
  return { kind: 'address', url: new URL(address), param };
}

/** An image as base64, with or without the head of a data URL. */
export function base64Image(text: string | LongText, param: string): ReceivedImage {
  const { pieces, byteLength, isEscaped } =
    text instanceof LongText ? text : new LongText([Buffer.from(text)], Buffer.byteLength(text), false);
  return { kind: 'received', encoding: 'base64', isEscaped, pieces, byteLength, param };
}

export function imageOfFile({ pieces }: FormFile, param: string): ReceivedImage {
  const byteLength = pieces.reduce((sum, piece) => sum + piece.length, 0);
  return { kind: 'received', encoding: 'bytes', isEscaped: false, pieces, byteLength, param };
}

/** Whether it is an http(s) URL, in upper or lower case. */
export function isAddress(text: string | LongText): boolean {
  return typeof text === 'string' && /^\s*https?:/i.test(text);
}

/** The text of an image, at most two objects deep: `{image_url: {url}}`. */
export function imageText(value: unknown, depth = 2): string | LongText | undefined {
  if (isText(value)) return value;
  if (typeof value !== 'object' || value === null || depth === 0) return undefined;
  const member = MEMBERS.find((name) => !isAbsent((value as Body)[name]));
  return member === undefined ? undefined : imageText((value as Body)[member], depth - 1);
}
