import { setTimeout as pause } from 'node:timers/promises';
import { OperatorError } from '#platform/errors.js';

/** Test switches: what a bus can do to a message, done to every message. */
export interface ChaosOptions {
  /** Each message is handled twice; the second time late, in the background. */
  duplicate?: boolean;
  /** Messages start after random pauses, so that they overtake each other. */
  reorder?: boolean;
  /** The first answer for each ID is lost, so that the sender has to send again. */
  dropFirstReply?: boolean;
  /** The same seed makes the same random choices. */
  seed?: number;
  /** The longest pause, in milliseconds. */
  maxDelayMs?: number;
}

const WORDS = 'duplicate, reorder, drop-first-reply, seed=NUMBER, max-delay-ms=NUMBER';
const DEFAULT_MAX_DELAY_MS = 5;
/** Late enough that the original has usually been handled. */
const DUPLICATE_DELAY_FACTOR = 6;

/**
 * Reads `BUS_CHAOS`, such as "duplicate,reorder,drop-first-reply,seed=7". Empty means none.
 * @throws OperatorError for an unknown word.
 */
export function parseChaos(text: string | undefined): ChaosOptions | undefined {
  const words = (text ?? '').split(',').map((word) => word.trim());
  const options: ChaosOptions = {};
  for (const word of words.filter((each) => each !== '')) {
    const number = /^(seed|max-delay-ms)=(\d{1,9})$/.exec(word);
    if (word === 'duplicate') options.duplicate = true;
    else if (word === 'reorder') options.reorder = true;
    else if (word === 'drop-first-reply') options.dropFirstReply = true;
    else if (number?.[1] === 'seed') options.seed = Number(number[2]);
    else if (number) options.maxDelayMs = Number(number[2]);
    else {
      throw new OperatorError(`Configuration: BUS_CHAOS must be a comma list of ${WORDS}.`);
    }
  }
  return Object.keys(options).length > 0 ? options : undefined;
}

export class Chaos {
  readonly duplicates: boolean;
  private readonly maxDelayMs: number;
  private readonly answered = new Set<string>();
  private state: number;

  constructor(private readonly options: ChaosOptions) {
    this.duplicates = options.duplicate ?? false;
    this.maxDelayMs = options.maxDelayMs ?? DEFAULT_MAX_DELAY_MS;
    this.state = options.seed ?? Date.now();
  }

  async beforeFirst(): Promise<void> {
    if (this.options.reorder) await pause(this.random() * this.maxDelayMs);
  }

  async beforeDuplicate(): Promise<void> {
    await pause(this.random() * this.maxDelayMs * DUPLICATE_DELAY_FACTOR);
  }

  /** True once for each topic and id. */
  losesReply(topic: string, id: string): boolean {
    const subject = `${topic} ${id}`;
    if (!this.options.dropFirstReply || this.answered.has(subject)) return false;
    this.answered.add(subject);
    return true;
  }

  /** mulberry32: small, seeded, good enough to shuffle. */
  private random(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }
}
