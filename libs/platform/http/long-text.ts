import { randomUUID } from 'node:crypto';

/**
 * A long text of a JSON body that stays the bytes it came as, in pieces, where a string would be copied at every step:
 * an image in base64 is as long as all the rest a thousand times. What needs the characters asks for them; what hands
 * a body on writes the same bytes again (`writeJson`).
 */
export class LongText {
  constructor(
    /** The bytes between the quotes of a JSON text: UTF-8, with the escapes that were sent. Can be walked again. */
    readonly pieces: Iterable<Buffer>,
    readonly byteLength: number,
    /** The bytes are not all characters of their own. */
    readonly isEscaped: boolean,
  ) {}

  static of(pieces: readonly Buffer[]): LongText {
    const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
    return new LongText(
      pieces,
      bytes,
      pieces.some((piece) => piece.includes(BACKSLASH)),
    );
  }

  /** A data URL, whose base64 is made as it is read. */
  static dataUrl(mime: string, bytes: Buffer): LongText {
    const head = Buffer.from(`data:${mime};base64,`);
    const length = head.length + Math.ceil(bytes.length / 3) * 4;
    return new LongText({ [Symbol.iterator]: () => base64Pieces(head, bytes) }, length, false);
  }

  /** Base64 of bytes, made as it is read. */
  static base64(bytes: Buffer): LongText {
    const length = Math.ceil(bytes.length / 3) * 4;
    return new LongText({ [Symbol.iterator]: () => base64Pieces(Buffer.alloc(0), bytes) }, length, false);
  }

  /** The first bytes as they were sent, for a look at what it is. */
  head(bytes: number): string {
    let head = '';
    for (const piece of this.pieces) {
      head += piece.toString('latin1', 0, bytes - head.length);
      if (head.length >= bytes) break;
    }
    return head;
  }

  /** All of it as a string, which the caller must bound. */
  toString(): string {
    return JSON.parse(`"${Buffer.concat([...this.pieces]).toString('utf8')}"`) as string;
  }

  /** Where a body is written, its bytes replace it. */
  toJSON(): string {
    if (!standingAside) return this.toString();
    standingAside.push(this);
    return MARK;
  }
}

export function isText(value: unknown): value is string | LongText {
  return typeof value === 'string' || value instanceof LongText;
}

/** Bytes that are known by their number, to be sent in order. Can be walked once for each sending. */
export interface WrittenJson {
  readonly byteLength: number;
  readonly pieces: Iterable<Buffer>;
}

const BACKSLASH = '\\'.charCodeAt(0);
/** A multiple of three, so that the base64 of pieces is that of the whole. */
const PIECE_BYTES = 48 * 1024;
/** No client can know it, so no text of a client's is it. */
const MARK = `long text ${randomUUID()}`;
let standingAside: LongText[] | undefined;

/** What JSON.stringify writes, with the bytes of long texts as they are. Null: there are none, and this is the text. */
export function writeJson(value: object): WrittenJson | string {
  const texts: LongText[] = [];
  let frame: string;
  standingAside = texts;
  try {
    frame = JSON.stringify(value);
  } finally {
    standingAside = undefined;
  }
  if (texts.length === 0) return frame;
  const parts = frame.split(MARK).map((part) => Buffer.from(part));
  const plain = parts.reduce((sum, part) => sum + part.length, 0);
  const long = texts.reduce((sum, text) => sum + text.byteLength, 0);
  return { byteLength: plain + long, pieces: { [Symbol.iterator]: () => interleaved(parts, texts) } };
}

function* interleaved(parts: readonly Buffer[], texts: readonly LongText[]): Generator<Buffer> {
  for (const [index, part] of parts.entries()) {
    yield part;
    const text = texts[index];
    if (text) yield* text.pieces;
  }
}

function* base64Pieces(head: Buffer, bytes: Buffer): Generator<Buffer> {
  yield head;
  for (let at = 0; at < bytes.length; at += PIECE_BYTES)
    yield Buffer.from(bytes.toString('base64', at, at + PIECE_BYTES), 'latin1');
}
