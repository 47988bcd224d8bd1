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
 * did not ask for is dropped, the last event is kept back, and an upstream's error is left to be reworded. A
 * model that the upstream knows by another name keeps the client's.
 */
export class EventFilter {
  /** Events passed on so far. */
  passed = 0;
  private readonly splitter = new SseSplitter();

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
      pass.push(this.named(event));
      this.passed += 1;
    }
    return { pass: pass.length === 1 && pass[0] ? pass[0] : Buffer.concat(pass), end: 'open', last: null };
  }

  /**
   * The upstream has closed its stream in order. A last event without its blank line counts, and so does a chat that
   * reported its usage: not every vendor says [DONE]. Anything else there was cut off.
   */
  close(): Passage {
    const { end, last } = this.push(BLANK_LINE);
    if (end !== 'open') return { pass: Buffer.alloc(0), end, last };
    const isWhole = this.kind === 'chat' && this.meter.reported() !== null;
    return { pass: Buffer.alloc(0), end: isWhole ? 'done' : 'failed', last: null };
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
