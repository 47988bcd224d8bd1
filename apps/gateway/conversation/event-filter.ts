import type { StreamKind } from '#upstream/outcomes.js';
import { type SseEvent, SseSplitter } from '#upstream/sse-splitter.js';
import type { UsageMeter } from '#upstream/usage-meter.js';
import { withModel } from './model-name.js';

/** What one chunk of a stream came to. */
export interface Passage {
  /** To be sent on at once. */
  pass: Buffer;
  /** `done`: the stream has said its last; `failed`: the upstream said that it broke. Nothing after it counts. */
  end: 'open' | 'done' | 'failed';
  /** The event that ends the answer for the client, kept back until it is paid; null when there is none. */
  last: Buffer | null;
}

const BLANK_LINE = Buffer.from('\n\n');

/**
 * Passes the events of a stream on as they came and meters them, but for three: a chat's usage chunk that the client
 * did not ask for is dropped, the last event is kept back, and an upstream's error is left to be reworded. Google's
 * streams have no event that is the last for sure: one that says why the answer ended is kept until another follows. A
 * model that the upstream knows by another name keeps the client's.
 */
export class EventFilter {
  /** Events passed on so far. */
  passed = 0;
  private readonly splitter = new SseSplitter();
  private kept: Buffer | null = null;

  constructor(
    private readonly kind: StreamKind,
    private readonly meter: UsageMeter,
    private readonly options: { wantsUsage: boolean; clientsModel: string | null },
  ) {}

  push(chunk: Buffer): Passage {
    const pass: Buffer[] = [];
    for (const event of this.splitter.push(chunk)) {
      const isDropped = this.isDropped(event);
      const { end } = this.meter;
      if (end === 'failed') return { pass: Buffer.concat(pass), end, last: null };
      if (end === 'complete') return { pass: Buffer.concat(pass), end: 'done', last: this.named(event) };
      if (isDropped) continue;
      const due = this.dueWith(event);
      pass.push(...due);
      this.passed += due.length;
    }
    return { pass: pass.length === 1 && pass[0] ? pass[0] : Buffer.concat(pass), end: 'open', last: null };
  }

  /**
   * The upstream has closed its stream in order. A last event without its blank line counts, and so does a chat that
   * reported its usage: not every vendor says [DONE]. Anything else there was cut off.
   */
  close(): Passage {
    const pass = Buffer.alloc(0);
    if (this.kept) return { pass, end: 'done', last: this.kept };
    const { end, last } = this.push(BLANK_LINE);
    if (end !== 'open') return { pass, end, last };
    const isWhole = this.kept !== null || (this.kind === 'chat' && this.meter.reported() !== null);
    return { pass, end: isWhole ? 'done' : 'failed', last: this.kept };
  }

  /** What may go out now: what was kept before, and the event itself unless it may be the last. */
  private dueWith(event: SseEvent): Buffer[] {
    const bytes = this.named(event);
    const isKept = this.kind === 'contents' && this.meter.isFinal;
    // A comment says nothing about what follows.
    if (isKept && this.kept && event.data === null) {
      this.kept = Buffer.concat([this.kept, bytes]);
      return [];
    }
    const due = [...(this.kept ? [this.kept] : []), ...(isKept ? [] : [bytes])];
    this.kept = isKept ? bytes : null;
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
