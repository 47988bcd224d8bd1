import { ApiError } from '#platform/errors.js';
import { isText, LongText } from '#platform/http/long-text.js';
import type { Body } from '../http/fields.js';
import { base64Image, type ReceivedImage, imageText } from '../http/input-images.js';

/** OpenAI's own limit. */
const MAX_INPUT_IMAGES = 500;
/** The fields with parts, of messages and of parts such as tool results. */
const LISTS = ['messages', 'input', 'content', 'output', 'contents', 'parts'] as const;

/**
 * The images contained in a conversation, wherever they are. Images referenced by URL or ID are fetched by the vendor.
 * @throws ApiError invalid_value if there are too many
 */
export function imagesIn(body: Body): ReceivedImage[] {
  const param = ['messages', 'contents'].find((name) => name in body) ?? 'input';
  const images = partsOf(body).flatMap((part) => {
    const text = inlineImage(part);
    return text === undefined ? [] : [base64Image(text, param)];
  });
  if (images.length <= MAX_INPUT_IMAGES) return images;
  throw new ApiError('invalid_value', `${param} must hold at most ${MAX_INPUT_IMAGES} images.`, { param });
}

/** It goes as deep as a body, which is checked before parsing. */
function partsOf(value: Body): Body[] {
  return LISTS.flatMap((name) => {
    const list: unknown = value[name];
    if (!Array.isArray(list)) return [];
    const parts = list.filter((part): part is Body => typeof part === 'object' && part !== null);
    return parts.flatMap((part) => [part, ...partsOf(part), ...partsOf(resultIn(part))]);
  });
}

/** The answer of a client's function, in Google's contents. */
function resultIn({ functionResponse: result }: Body): Body {
  return typeof result === 'object' && result !== null ? (result as Body) : {};
}

/**
 * `{type: image, source: {type: base64, data}}` in messages; `inlineData` under the type of an image in contents;
 * `image_url` with a data URL elsewhere.
 */
function inlineImage(part: Body): string | LongText | undefined {
  if (part['type'] === 'image') {
    const { type, data } = (part['source'] ?? {}) as { type?: unknown; data?: unknown };
    return type === 'base64' && isText(data) ? data : undefined;
  }
  if (part['inlineData']) {
    const { mimeType, data } = part['inlineData'] as { mimeType?: unknown; data?: unknown };
    return /^image\//i.test(String(mimeType)) && isText(data) ? data : undefined;
  }
  const text = imageText(part['image_url'], 1);
  return text !== undefined && isDataUrl(text) ? text : undefined;
}

function isDataUrl(text: string | LongText): boolean {
  return /^\s*data:/i.test(text instanceof LongText ? text.head(20) : text);
}
