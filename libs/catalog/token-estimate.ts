import { isText, LongText } from '#platform/http/long-text.js';
import type { ModelLimits } from './catalog.js';

/** The body of a request, as JSON. */
type Body = Readonly<Record<string, unknown>>;

/**
 * The most tokens of an image: OpenAI's patches and tiles and Anthropic's areas stay below this. Its bytes say nothing,
 * because vendors scale images down first.
 */
const MOST_IMAGE_TOKENS = 5_000;
/**
 * Google's tiles of 768 by 768 pixels at 258 tokens each: 129 for 32,529 by 1,537 pixels, the worst image that is read
 * here.
 */
const MOST_TILED_IMAGE_TOKENS = 34_000;
/** An average image, if no usage was reported. */
const LIKELY_IMAGE_TOKENS = 1_000;
/** The usual length of a token in text of any language, if no usage was reported. */
const CHARACTERS_PER_TOKEN = 4;

/** Vendors count about 21 tokens per second of sound, in which 15 letters are spoken, or five characters of three bytes. */
const LIKELY_SPEECH_TOKENS_PER_BYTE = 1.5;
/** At the slowest speed that can be requested. */
const MOST_SPEECH_TOKENS_PER_BYTE = 6;

/** For a model without limits in the catalog: the most that current models read and write. */
const DEFAULT_INPUT_TOKENS = 200_000;
const DEFAULT_OUTPUT_TOKENS = 16_384;

export interface TokenEstimate {
  /** At least what the upstream can count: the amount to hold. */
  most: bigint;
  /** The probable number, never more than `most`. */
  likely: bigint;
}

/** The tokens of a request before the call, regardless of the model. Its limits are checked against this. */
export interface MeasuredTokens extends TokenEstimate {
  readonly counted: bigint;
  /** It refers to something outside the body, so nothing here limits it. */
  readonly unbounded: boolean;
}

/**
 * The input of a request in tokens. Every tokenizer in use falls back to single bytes, so no token is shorter than one
 * byte of UTF-8: the bytes of the JSON limit the tokens of its text, and its names and braces are more than what a
 * vendor's chat template adds to each message. That is three to four times the usual count, held for as long as the
 * answer takes, and capped by the model's own input limit. What a body only refers to, or contains compressed
 * (documents), may be as long as the model reads.
 */
export function estimateInput(body: Body, limits: ModelLimits): MeasuredTokens {
  const cap = BigInt(limits.maxInputTokens ?? DEFAULT_INPUT_TOKENS);
  const size = new InputSize();
  for (const [name, value] of Object.entries(body)) {
    size.addName(name);
    size.add(value, CONVERSATIONS.get(name) ?? 'plain');
  }
  const { bytes, images, unbounded } = size;
  const bound = BigInt(bytes + size.signed + size.mostOfImages);
  // Only a configured limit is the model's own. The default must not cut a longer text short.
  const capped = limits.maxInputTokens !== undefined && bound > cap ? cap : bound;
  const most = unbounded && cap > capped ? cap : capped;
  const counted = BigInt(Math.ceil(bytes / CHARACTERS_PER_TOKEN) + images * LIKELY_IMAGE_TOKENS);
  return { most, likely: counted < most ? counted : most, counted, unbounded };
}

/** The tokens of a spoken text. The bytes of a sound say nothing about tokens, so its text has to. */
export function estimateSpeech(text: string, limits: ModelLimits): MeasuredTokens {
  const bytes = Buffer.byteLength(text);
  const tokens = (perByte: number) =>
    BigInt(Math.min(Math.ceil(bytes * perByte), limits.maxOutputTokens ?? Infinity));
  const counted = BigInt(Math.ceil(bytes * LIKELY_SPEECH_TOKENS_PER_BYTE));
  const [most, likely] = [tokens(MOST_SPEECH_TOKENS_PER_BYTE), tokens(LIKELY_SPEECH_TOKENS_PER_BYTE)];
  return { most, likely, counted, unbounded: false };
}

/** The most tokens that this many answers may have together. */
export function mostOutputTokens(
  { maxOutputTokens, choices }: { maxOutputTokens?: number | undefined; choices: number },
  limits: ModelLimits,
): bigint {
  const limit = limits.maxOutputTokens ?? Math.max(maxOutputTokens ?? 0, DEFAULT_OUTPUT_TOKENS);
  return BigInt(Math.min(maxOutputTokens ?? limit, limit)) * BigInt(choices);
}

/** Where images are. Elsewhere, as in the schema of a tool, the same words are just text. */
const CONVERSATIONS: ReadonlyMap<string, Manner> = new Map([
  ['messages', 'typed'],
  ['input', 'typed'],
  ['system', 'typed'],
  ['contents', 'named'],
  ['systemInstruction', 'named'],
]);
/** How the parts of a conversation give their type: by a field, or with Google, by the only field that they have. */
type Manner = 'typed' | 'named' | 'plain';
/** Parts that refer to something outside the body, or whose bytes are compressed. */
const UNBOUNDED_PARTS = new Set(['file', 'input_file', 'document']);
/** Where a part has its image. */
const IMAGE_FIELDS: Record<string, string> = {
  image_url: 'image_url',
  input_image: 'image_url',
  image: 'source',
};

class InputSize {
  bytes = 0;
  images = 0;
  /** Tokens. */
  mostOfImages = 0;
  /** Bytes of signatures, which are included in the hold: they are no text, and no vendor says how they are counted. */
  signed = 0;
  unbounded = false;

  addName(name: string): void {
    this.bytes += Buffer.byteLength(name) + '"":,'.length;
  }

  add(value: unknown, manner: Manner): void {
    if (isText(value)) this.bytes += bytesOf(value) + '"",'.length;
    else if (Array.isArray(value)) {
      for (const item of value) this.add(item, manner);
    } else if (typeof value === 'object' && value !== null) this.addObject(value as Body, manner);
    else this.bytes += String(value).length + 1;
  }

  private addImage(most: number): void {
    this.images += 1;
    this.mostOfImages += most;
  }

  private addObject(part: Body, manner: Manner): void {
    this.bytes += '{},'.length;
    if (manner === 'named') this.addNamed(part);
    else this.addTyped(part, manner === 'typed');
  }

  /** Files, and documents at addresses, may contain anything that the model reads. */
  private addNamed(part: Body): void {
    for (const [name, value] of Object.entries(part)) {
      this.addName(name);
      const media = name === 'inlineData' ? mediaOf(value) : null;
      if (media === 'image') this.addImage(MOST_TILED_IMAGE_TOKENS);
      else if (name === 'thoughtSignature' && isText(value)) this.signed += bytesOf(value);
      else if (media !== 'document') this.add(value, WRITTEN.has(name) ? 'plain' : 'named');
      if (name === 'fileData' || (name === 'inlineData' && media !== 'image')) this.unbounded = true;
    }
  }

  private addTyped(part: Body, mayHold: boolean): void {
    const type = mayHold && typeof part['type'] === 'string' ? part['type'] : '';
    const field = IMAGE_FIELDS[type];
    if (UNBOUNDED_PARTS.has(type)) this.unbounded = true;
    for (const [name, value] of Object.entries(part)) {
      this.addName(name);
      if (name === field && isImage(value)) this.addImage(MOST_IMAGE_TOKENS);
      // The input of a tool call is whatever the model wrote.
      else this.add(value, mayHold && !(type === 'tool_use' && name === 'input') ? 'typed' : 'plain');
    }
  }
}

/** Function calls and their results: whatever the model or the client wrote. */
const WRITTEN = new Set(['args', 'response']);

/** Base64 of an image, which is verified before anything is held, or of a document, whose bytes say nothing. */
function mediaOf(value: unknown): 'image' | 'document' | null {
  const { mimeType, data } = (value ?? {}) as { mimeType?: unknown; data?: unknown };
  if (typeof mimeType !== 'string' || !isText(data)) return null;
  if (/^image\//i.test(mimeType)) return 'image';
  return /^application\/pdf$/i.test(mimeType) ? 'document' : null;
}

/** An address, alone or in `url`, or base64 in `data`: what a vendor takes for an image and for nothing else. */
function isImage(value: unknown): boolean {
  if (isText(value)) return /^(data:image\/|https?:\/\/)/i.test(headOf(value));
  if (typeof value !== 'object' || value === null) return false;
  const { url, data, type } = value as Record<string, unknown>;
  return isImage(url) || (type === 'base64' && isText(data));
}

/** The length of a long text with its escapes, which are no shorter than what they encode. */
function bytesOf(text: string | LongText): number {
  return text instanceof LongText ? text.byteLength : Buffer.byteLength(text);
}

const HEAD_CHARS = 20;

function headOf(text: string | LongText): string {
  return text instanceof LongText ? text.head(HEAD_CHARS).replace(/\\\//g, '/') : text.slice(0, HEAD_CHARS);
}
