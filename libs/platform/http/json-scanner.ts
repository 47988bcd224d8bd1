export interface JsonLimits {
  /** Nested objects and lists. */
  readonly depth: number;
  /** Opening braces and brackets, commas and colons: everything that becomes a value, and has to be walked through. */
  readonly elements: number;
}

/** `malformed`: bytes that no JSON text has in this place. Only texts are checked. The parser refuses the rest. */
export type JsonFault = 'depth' | 'elements' | 'malformed';

/** Receives the bytes of a JSON text in order. A quoted text may arrive in several pieces. */
export interface JsonSink {
  /** Bytes outside of texts, and the quotes around texts. */
  plain(bytes: Uint8Array, from: number, to: number): void;
  /** Bytes inside the quotes of a text, as sent, with escapes. */
  text(bytes: Uint8Array, from: number, to: number): void;
  /** The last text is complete. A name is followed by a colon, everything else is a value. */
  textEnd(isName: boolean): void;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const FIRST_PRINTABLE = 0x20;
const LETTER_U = 0x75;
const HEX_DIGITS = 4;

const ESCAPED = bytesOf('"\\/bfnrtu');
const HEX = bytesOf('0123456789abcdefABCDEF');

/**
 * Walks through the bytes of a JSON text as they arrive, in pieces of any size, and reports as soon as they exceed a
 * limit. It builds nothing and only needs memory for the depth, so a refused body never costs a parser. Of a
 * well-formed text, it refuses nothing within the limits.
 */
export class JsonScanner {
  private depth = 0;
  private elements = 0;
  private inText = false;
  /** Directly after a backslash. */
  private escaping = false;
  /** Remaining digits of an escape. */
  private hexLeft = 0;
  /** Whether a text that starts now is a name. */
  private atName = false;
  /** For each open level, whether it is an object. */
  private readonly objects: Uint8Array;

  constructor(
    private readonly limits: JsonLimits,
    private readonly sink?: JsonSink,
  ) {
    this.objects = new Uint8Array(limits.depth + 1);
  }

  /** Takes the next bytes. After a fault, nothing more may be pushed. */
  push(bytes: Uint8Array): JsonFault | null {
    let at = 0;
    while (at < bytes.length) {
      const next = this.inText ? this.walkText(bytes, at) : this.walkPlain(bytes, at);
      if (next < 0) return 'malformed';
      if (this.depth > this.limits.depth) return 'depth';
      if (this.elements > this.limits.elements) return 'elements';
      at = next;
    }
    return null;
  }

  /** Up to and including the quote that opens a text; stops early beyond a limit. */
  private walkPlain(bytes: Uint8Array, from: number): number {
    const { limits, objects } = this;
    let at = from;
    for (; at < bytes.length; at += 1) {
      const byte = bytes[at];
      if (byte === QUOTE) {
        this.inText = true;
        at += 1;
        break;
      }
      if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
        this.depth += 1;
        this.elements += 1;
        this.atName = byte === OPEN_OBJECT;
        if (this.depth > limits.depth || this.elements > limits.elements) return at;
        objects[this.depth] = byte === OPEN_OBJECT ? 1 : 0;
      } else if (byte === COMMA) {
        this.elements += 1;
        this.atName = objects[this.depth] === 1;
        if (this.elements > limits.elements) return at;
      } else if (byte === COLON) {
        this.elements += 1;
        this.atName = false;
        if (this.elements > limits.elements) return at;
      } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
        if (this.depth > 0) this.depth -= 1;
      }
    }
    this.sink?.plain(bytes, from, at);
    return at;
  }

  /** Up to the quote that closes a text, which is left to `walkPlain`; -1 for what no text may hold. */
  private walkText(bytes: Uint8Array, from: number): number {
    let at = from;
    for (; at < bytes.length; at += 1) {
      const byte = bytes[at] as number;
      if (this.escaping || this.hexLeft > 0) {
        if (!this.walkEscape(byte)) return -1;
      } else if (byte === BACKSLASH) this.escaping = true;
      else if (byte === QUOTE) return this.closeText(bytes, from, at);
      else if (byte < FIRST_PRINTABLE) return -1;
    }
    this.sink?.text(bytes, from, at);
    return at;
  }

  private walkEscape(byte: number): boolean {
    if (this.hexLeft > 0) {
      this.hexLeft -= 1;
      return HEX[byte] === 1;
    }
    this.escaping = false;
    if (byte === LETTER_U) this.hexLeft = HEX_DIGITS;
    return ESCAPED[byte] === 1;
  }

  private closeText(bytes: Uint8Array, from: number, at: number): number {
    this.inText = false;
    this.sink?.text(bytes, from, at);
    this.sink?.textEnd(this.atName);
    this.sink?.plain(bytes, at, at + 1);
    return at + 1;
  }
}

function bytesOf(characters: string): Uint8Array {
  const table = new Uint8Array(256);
  for (const character of characters) table[character.charCodeAt(0)] = 1;
  return table;
}
