/**
 * One event of a `text/event-stream`, with its original bytes including the blank line, so that it can be passed on
 * unchanged.
 */
export interface SseEvent {
  raw: Buffer;
  /** The `event:` line, or null. */
  event: string | null;
  /** The `data:` lines, joined by line feeds; null for a comment, and for an event too long to be read. */
  data: string | null;
  /** A part of an event that is too long to be read. */
  isPiece?: true;
}

const LF = 0x0a;
const CR = 0x0d;

/** An inlined image of a response is shorter. A longer event passes in pieces that are not parsed. */
const MAX_EVENT_BYTES = 16 * 1024 * 1024;

/**
 * Splits a stream of bytes into events, wherever its chunks are cut: inside a character, a line, or the blank line. The
 * raw bytes of all events and of `rest` together are the pushed bytes. Lines may end in LF, CR or CRLF.
 */
export class SseSplitter {
  private held: Buffer[] = [];
  private heldBytes = 0;
  /** The current line is still empty. */
  private atLineStart = true;
  /** Something other than line ends was seen since the last event. */
  private hasContent = false;
  private afterCr = false;
  private tooLong = false;

  /** The events that end within this chunk, at once. None waits for a byte that may follow. */
  push(chunk: Buffer): SseEvent[] {
    const events: SseEvent[] = [];
    let start = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at];
      if (byte === LF && this.afterCr) {
        this.afterCr = false;
      } else if (byte === LF || byte === CR) {
        this.afterCr = byte === CR;
        if (this.atLineStart && this.hasContent) {
          events.push(this.take(chunk.subarray(start, at + 1)));
          start = at + 1;
        }
        this.atLineStart = true;
      } else {
        this.afterCr = this.atLineStart = false;
        this.hasContent = true;
      }
    }
    this.hold(chunk.subarray(start));
    if (this.heldBytes > MAX_EVENT_BYTES) events.push(this.takePiece());
    return events;
  }

  /** What came after the last event: part of one that was cut off, or nothing. */
  rest(): Buffer {
    return Buffer.concat(this.held);
  }

  private hold(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.held.push(bytes);
    this.heldBytes += bytes.length;
  }

  private take(last: Buffer): SseEvent {
    const isWhole = !this.tooLong;
    const raw = this.held.length === 0 ? last : Buffer.concat([...this.held, last]);
    this.clear();
    this.hasContent = false;
    this.tooLong = false;
    return isWhole ? parse(raw) : { raw, event: null, data: null, isPiece: true };
  }

  private takePiece(): SseEvent {
    const raw = this.rest();
    this.clear();
    this.tooLong = true;
    return { raw, event: null, data: null, isPiece: true };
  }

  private clear(): void {
    this.held = [];
    this.heldBytes = 0;
  }
}

function parse(raw: Buffer): SseEvent {
  let event: string | null = null;
  let data: string | null = null;
  for (const line of raw.toString('utf8').split(/\r\n|\n|\r/)) {
    const colon = line.indexOf(':');
    const field = colon === -1 ? line : line.slice(0, colon);
    if (field !== 'data' && field !== 'event') continue;
    const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (field === 'event') event = value;
    else data = data === null ? value : `${data}\n${value}`;
  }
  return { raw, event, data };
}
