const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_OBJECT = 0x7b;
const OPEN_ARRAY = 0x5b;
const CLOSE_OBJECT = 0x7d;
const CLOSE_ARRAY = 0x5d;

/** What is kept of a text that is nothing to read: an image or a sound in base64. */
const MAX_DATA_BYTES = 64 * 1024;
/** All that is kept. */
const MAX_KEPT_BYTES = 32 * 1024 * 1024;
/** Deeper, and with longer names, than any vendor writes. */
const MAX_DEPTH = 1_000;
const MAX_NAME_BYTES = 100;

/** Beside the top: where the events of responses and of messages keep what they are about. */
const HOLDERS = ['response', 'message'];
/** The second is Google's. */
const MODEL_NAMES = ['model', 'modelVersion'];

/** A text that is being read: the name of a field or its value. */
interface Reading {
  isName: boolean;
  /** It is the name of the model, which another takes the place of. */
  isModel: boolean;
  parts: Buffer[];
  bytes: number;
  isEscaped: boolean;
  /** Nothing more of it is kept. */
  isCut: boolean;
}

/** Longer, or nested more deeply, than what can be passed on, although the upstream made it. */
export class TooMuch extends Error {}

/**
 * Reads JSON of any length as it passes, in bounded memory: of images and sounds, which are long texts without a space, only
 * the beginning is kept. The name of the model can be exchanged on the way, in the one place where an answer, whole or as an
 * event, names it; every other byte passes as the upstream wrote it.
 */
export class JsonSkim {
  /** The names at the top that have come so far. */
  readonly topNames = new Set<string>();
  private readonly kept: Buffer[] = [];
  private keptBytes = 0;
  /** Brackets that are open. */
  private readonly open: number[] = [];
  /** The names that were read last, at the top and below it. */
  private readonly names = ['', ''];
  private isNameNext = false;
  private text: Reading | null = null;

  /** @param clientsModel what the client calls the model, where the upstream has another name for it */
  constructor(private readonly clientsModel: string | null = null) {}

  /** A text was begun and has not ended. */
  get isInText(): boolean {
    return this.text !== null;
  }

  /** @returns what is to be passed on. @throws TooMuch where what has to be kept is too much */
  push(chunk: Buffer): Buffer {
    const passed: Buffer[] = [];
    let from = 0;
    for (let at = 0; at < chunk.length;) {
      if (this.text) {
        const { isModel } = this.text;
        at = this.readText(this.text, chunk, at);
        if (isModel) from = at;
        continue;
      }
      const quote = chunk.indexOf(QUOTE, at);
      const end = quote === -1 ? chunk.length : quote;
      this.walk(chunk.subarray(at, end));
      if (quote === -1) break;
      this.text = this.begin();
      at = quote + 1;
      if (!this.text.isModel) continue;
      passed.push(chunk.subarray(from, quote), Buffer.from(JSON.stringify(this.clientsModel)));
      from = at;
    }
    passed.push(chunk.subarray(from));
    return passed.length === 1 && passed[0] ? passed[0] : Buffer.concat(passed);
  }

  /** What was read, with its long texts cut. */
  skimmed(): Buffer {
    return Buffer.concat(this.kept);
  }

  private walk(bytes: Buffer): void {
    for (const byte of bytes) {
      if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
        this.open.push(byte);
        if (this.open.length > MAX_DEPTH) throw new TooMuch('an answer that is nested too deeply');
        this.isNameNext = byte === OPEN_OBJECT;
      } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
        this.open.pop();
        this.isNameNext = false;
      } else if (byte === COMMA) {
        this.isNameNext = this.open.at(-1) === OPEN_OBJECT;
      }
    }
    // A copy, so that the chunk is not kept for it.
    this.keep(Buffer.from(bytes));
  }

  private begin(): Reading {
    const depth = this.open.length;
    const [top = '', below = ''] = this.names;
    const name = depth === 1 ? top : depth === 2 && HOLDERS.includes(top) ? below : '';
    const isModel = this.clientsModel !== null && !this.isNameNext && MODEL_NAMES.includes(name);
    return { isName: this.isNameNext, isModel, parts: [], bytes: 0, isEscaped: false, isCut: false };
  }

  /** @returns the place behind the quote that ends the text, or the end of the chunk */
  private readText(text: Reading, chunk: Buffer, start: number): number {
    let [at, slash] = [start, -1];
    const quoteFrom = (place: number) => {
      const found = chunk.indexOf(QUOTE, place);
      return found === -1 ? chunk.length : found;
    };
    let quote = quoteFrom(start);
    while (at < chunk.length) {
      if (text.isEscaped) {
        text.isEscaped = false;
        at += 1;
        if (quote < at) quote = quoteFrom(at);
        continue;
      }
      if (slash < at) slash = chunk.subarray(0, quote).indexOf(BACKSLASH, at);
      if (slash === -1) break;
      text.isEscaped = true;
      at = slash + 1;
    }
    const end = at < chunk.length ? quote : chunk.length;
    this.note(text, chunk.subarray(start, end));
    if (end === chunk.length) return end;
    this.endText(text);
    return end + 1;
  }

  private note(text: Reading, part: Buffer): void {
    if (text.isCut) return;
    text.bytes += part.length;
    this.checkBytes(text.bytes);
    text.parts.push(part);
    if (text.bytes <= MAX_DATA_BYTES || !text.parts.every(isData)) return;
    text.isCut = true;
    // A copy, so that the chunks are not kept for it.
    text.parts = [Buffer.from(Buffer.concat(text.parts).subarray(0, MAX_DATA_BYTES))];
  }

  private endText(text: Reading): void {
    this.text = null;
    const read = Buffer.concat(text.parts);
    this.keep(Buffer.from('"'));
    this.keep(text.isCut ? withoutHalfEscape(read) : read);
    this.keep(Buffer.from('"'));
    if (!text.isName) return;
    this.isNameNext = false;
    const depth = this.open.length;
    const name = read.toString('latin1', 0, MAX_NAME_BYTES);
    if (depth === 1 || depth === 2) this.names[depth - 1] = name;
    if (depth === 1) this.topNames.add(name);
  }

  private keep(bytes: Buffer): void {
    this.checkBytes(bytes.length);
    this.keptBytes += bytes.length;
    this.kept.push(bytes);
  }

  private checkBytes(more: number): void {
    if (this.keptBytes + more > MAX_KEPT_BYTES)
      throw new TooMuch(`an answer of more than ${MAX_KEPT_BYTES} bytes beside images and sounds`);
  }
}

/** What people read has spaces, or letters of more than one byte. */
function isData(bytes: Buffer): boolean {
  return !bytes.some((byte) => byte <= 0x20 || byte >= 0x80);
}

const LONGEST_ESCAPE = 6;

/** A text that was cut, without an escape that it was cut inside of. */
function withoutHalfEscape(text: Buffer): Buffer {
  let slash = text.lastIndexOf(BACKSLASH);
  if (slash < text.length - LONGEST_ESCAPE) return text;
  while (slash > 0 && text[slash - 1] === BACKSLASH) slash -= 1;
  return text.subarray(0, slash);
}
