import type { StreamKind } from '#upstream/outcomes.js';
import { type SseEvent, SseSplitter } from '#upstream/sse-splitter.js';
import type { UsageMeter } from '#upstream/usage-meter.js';
import { isOfImages } from './conversation-request.js';
import { withModel } from './model-name.js';

/** The result of one chunk of a stream. */
export interface Passage {
  /** To be sent immediately. */
  pass: Buffer;
  /**
   * `done`: the stream sent its last event; `failed`: the upstream reported a failure; `too-long`: an event is too long to be
   * counted. Nothing after it counts.
   */
  end: 'open' | 'done' | 'failed' | 'too-long';
  /** The event that ends the answer for the client, held back until it is paid, or null. */
  last: Buffer | null;
}

const BLANK_LINE = Buffer.from('\n\n');
const NOTHING = Buffer.alloc(0);

/**
 * Passes on and meters the events of a stream, with three exceptions: a chat's usage chunk that the client did not request is
 * dropped, the last event is held back, and an upstream's error is left to be reworded. Google's streams have no definite last
 * event: one with the reason for the end is held until another follows, and the [DONE] that some relays add is not passed to
 * Google's clients. A model keeps the client's name.
 */
export class EventFilter {
  /** The number of events passed on so far. */
  passed = 0;
  private readonly splitter = new SseSplitter();
  private keptBack: Buffer | null = null;

  constructor(
    private readonly kind: StreamKind,
    private readonly meter: UsageMeter,
    private readonly options: { wantsUsage: boolean; clientsModel: string | null },
  ) {}

  push(chunk: Buffer): Passage {
    return this.take(this.splitter.push(chunk));
  }

  /** The event of contents that gave the reason to end, while nothing has followed it; null when there is none. */
  get kept(): Buffer | null {
    return this.keptBack;
  }

  private take(events: readonly SseEvent[]): Passage {
    const pass: Buffer[] = [];
    for (const event of events) {
      // Too long to inspect; it could be the image to be paid for.
      if (event.data === null && isOfImages(this.kind)) continue;
      // Neither could it be counted, and contents hold images as well.
      if (event.isPiece && this.kind === 'contents')
        return { pass: Buffer.concat(pass), end: 'too-long', last: null };
      const isDropped = this.isDropped(event);
      if (this.meter.end !== 'open') return this.endWith(event, pass);
      if (isDropped) continue;
      const due = this.dueWith(event);
      pass.push(...due);
      this.passed += due.length;
    }
    return { pass: pass.length === 1 && pass[0] ? pass[0] : Buffer.concat(pass), end: 'open', last: null };
  }

  /** The event that ends the stream, by its name. What was kept is paid for whatever follows, so it goes out in any case. */
  private endWith(event: SseEvent, pass: Buffer[]): Passage {
    const { kept } = this;
    if (this.meter.end === 'complete' && this.kind !== 'contents')
      return { pass: Buffer.concat(pass), end: 'done', last: this.named(event) };
    if (this.meter.end === 'complete' && kept) return { pass: Buffer.concat(pass), end: 'done', last: kept };
    this.keptBack = null;
    this.passed += kept ? 1 : 0;
    return { pass: Buffer.concat(kept ? [...pass, kept] : pass), end: 'failed', last: null };
  }

  /**
   * The upstream has closed its stream in order. A last event without its blank line counts, and so does a chat that
   * gave its reason to end: not every vendor says [DONE]. Usage says nothing, because some report it in every chunk.
   * Anything else was cut off, and half an event is left out. Everything that ends a whole answer is in `last`.
   */
  close(): Passage {
    const { pass, end, last } = this.take(this.splitter.push(BLANK_LINE).filter(isReadable));
    const isChatsEnd = this.kind === 'chat' && this.meter.isFinished;
    const isWhole = end === 'done' || (end === 'open' && (this.kept !== null || isChatsEnd));
    if (!isWhole) return { pass, end: 'failed', last: null };
    const rest = Buffer.concat([pass, last ?? this.kept ?? NOTHING]);
    return { pass: NOTHING, end: 'done', last: rest.length > 0 ? rest : null };
  }

  /** What may go out now: what was kept before, and the event itself unless it may be the last. */
  private dueWith(event: SseEvent): Buffer[] {
    const bytes = this.named(event);
    const isKept = this.kind === 'contents' && this.meter.isFinished;
    // A comment says nothing about what follows.
    if (isKept && this.kept && event.data === null) {
      this.keptBack = Buffer.concat([this.kept, bytes]);
      return [];
    }
    const due = [...(this.kept ? [this.kept] : []), ...(isKept ? [] : [bytes])];
    this.keptBack = isKept ? bytes : null;
    return due;
  }

  private isDropped(event: SseEvent): boolean {
    const isUsageOnly = this.meter.addEvent(event);
    return isUsageOnly && !this.options.wantsUsage;
  }

  private named({ raw, data }: SseEvent): Buffer {
    const { clientsModel } = this.options;
    return clientsModel === null || data === null ? raw : withModel(raw, clientsModel);
  }
}

/** It came to its end, as far as its text says. */
function isReadable({ data }: SseEvent): boolean {
  if (data === null) return false;
  if (data === '[DONE]') return true;
  try {
    JSON.parse(data);
    return true;
  } catch {
    return false;
  }
}
