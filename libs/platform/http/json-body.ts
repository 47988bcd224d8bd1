import { randomUUID } from 'node:crypto';
import { BytePieces, GrowingBytes } from './byte-pieces.js';
import { ApiError } from '../errors.js';
import { type JsonFault, type JsonLimits, JsonScanner, type JsonSink } from './json-scanner.js';
import { LongText } from './long-text.js';
import { Utf8Check } from './utf8-check.js';

export interface JsonBodyLimits extends JsonLimits {
  /** The whole body. */
  readonly bytes: number;
  /** Everything but its long texts: what is parsed at once, and what every later step walks through. */
  readonly plainBytes: number;
}

/** Clients nest about a dozen levels, and a stack has an end. */
export const MAX_JSON_DEPTH = 100;
/** A chat with a million tokens has about half of them. */
export const MAX_JSON_ELEMENTS = 100_000;
/** Shorter bodies are parsed as a whole. In longer ones, texts above the second limit do not become strings. */
export const WHOLE_BODY_BYTES = 256 * 1024;
const LONG_TEXT_BYTES = 16 * 1024;

/**
 * A JSON body that is checked while it arrives and parsed when it is complete. It is refused at the first byte beyond
 * its limits. Long texts never reach the parser: in a body of some length, they become `LongText`s.
 */
export class JsonBody implements JsonSink {
  bytes = 0;
  private readonly scanner: JsonScanner;
  private readonly utf8 = new Utf8Check();
  private readonly plainPart = new GrowingBytes();
  private readonly cuts: { at: number; pieces: BytePieces }[] = [];
  /** The content of the current text so far. */
  private textBytes = 0;
  /** Where the current text goes, once it is long. */
  private long: BytePieces | null = null;

  /** `longTexts`: false for bodies whose readers only support strings. */
  constructor(
    private readonly limits: JsonBodyLimits,
    private readonly longTexts = true,
  ) {
    this.scanner = new JsonScanner(limits, this);
  }

  /** @throws ApiError request_too_large, invalid_json, invalid_request */
  push(bytes: Buffer): void {
    this.bytes += bytes.length;
    if (this.bytes > this.limits.bytes) throw tooLong(this.limits.bytes);
    const fault = this.scanner.push(bytes);
    if (fault) throw refusalOf(fault, this.limits);
    if (!this.utf8.push(bytes)) throw notText();
    if (this.plainPart.length > this.limits.plainBytes && this.bytes > WHOLE_BODY_BYTES) {
      throw tooLong(this.limits.plainBytes, ' without its long texts');
    }
  }

  /** The parsed body. `parse` receives everything but the long texts. @throws ApiError, and what `parse` throws */
  end<T>(parse: (text: string) => T): T {
    if (!this.utf8.end()) throw notText();
    if (this.cuts.length === 0 || this.bytes <= WHOLE_BODY_BYTES) return parse(this.textWith((cut) => cut));
    const mark = randomUUID();
    const texts = new Map<string, LongText>();
    const frame = this.textWith((pieces, index) => {
      texts.set(mark + index, LongText.of(pieces));
      return [Buffer.from(mark + index)];
    });
    return withTexts(parse(frame), texts) as T;
  }

  plain(bytes: Buffer, from: number, to: number): void {
    this.plainPart.add(bytes, from, to);
  }

  text(bytes: Buffer, from: number, to: number): void {
    this.textBytes += to - from;
    if (this.long) return this.long.add(bytes, from, to);
    this.plainPart.add(bytes, from, to);
    if (this.textBytes <= LONG_TEXT_BYTES || !this.longTexts) return;
    const start = this.plainPart.length - this.textBytes;
    const begun = this.plainPart.cutFrom(start);
    this.long = new BytePieces();
    this.long.add(begun, 0, begun.length);
  }

  textEnd(isName: boolean): void {
    if (this.long && isName) {
      for (const piece of this.long.list) this.plainPart.add(piece, 0, piece.length);
    } else if (this.long) this.cuts.push({ at: this.plainPart.length, pieces: this.long });
    this.long = null;
    this.textBytes = 0;
  }

  /** What was sent as a string, with a replacement for each long text. */
  private textWith(instead: (pieces: Buffer[], index: number) => Buffer[]): string {
    const { content } = this.plainPart;
    const parts: Buffer[] = [];
    let from = 0;
    for (const [index, { at, pieces }] of this.cuts.entries()) {
      parts.push(content.subarray(from, at));
      parts.push(...instead(pieces.list, index));
      from = at;
    }
    return Buffer.concat([...parts, content.subarray(from)]).toString('utf8');
  }
}

/** Puts the long texts in the place of their marks. The depth is already limited. */
function withTexts(value: unknown, texts: ReadonlyMap<string, LongText>): unknown {
  if (typeof value === 'string') return texts.get(value) ?? value;
  if (typeof value !== 'object' || value === null) return value;
  const holder = value as Record<string, unknown>;
  for (const [name, inner] of Object.entries(holder)) {
    const restored = withTexts(inner, texts);
    if (restored !== inner) holder[name] = restored;
  }
  return value;
}

function refusalOf(fault: JsonFault, { depth, elements }: JsonLimits): ApiError {
  switch (fault) {
    case 'depth':
      return new ApiError('invalid_json', `The body is nested more than ${depth} levels deep.`);
    case 'elements':
      return new ApiError('request_too_large', `The body has more than ${elements} elements.`);
    case 'malformed':
      return new ApiError('invalid_json', 'The body is not valid JSON.');
  }
}

function tooLong(bytes: number, what = ''): ApiError {
  return new ApiError('request_too_large', `The body can have at most ${bytes} bytes${what}.`);
}

function notText(): ApiError {
  return new ApiError('invalid_request', 'The body does not match its Content-Length, or is not UTF-8.');
}
