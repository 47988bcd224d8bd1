import type { TokenCounts } from '#pricing/token-kinds.js';
import { asObject, type JsonObject, readObject } from './answers.js';
import type { StreamKind } from './outcomes.js';
import type { SseEvent } from './sse-splitter.js';
import { dialects } from './usage-dialects.js';
import { countsOf, NO_KINDS, sortInput, sortOutput, toTokens } from './usage/usage-kinds.js';
import { CHARACTERS_PER_TOKEN, type UsageDialect, type UsageReading } from './usage/usage-reading.js';

/**
 * Reads from the answer of a pass-through call how many tokens it used, event by event or from the whole. It holds no
 * text. What it cannot read it leaves aside: metering never breaks a stream.
 */
export class UsageMeter {
  private readonly reading: UsageReading = {
    writes: { short: 0, long: 0, untold: 0 },
    isFinal: false,
    characters: 0,
    answers: 0,
    finished: 0,
    end: 'open',
  };
  private readonly dialect: UsageDialect;

  /** @param longWrites the request asked for a cache of an hour, so that writes whose time is not reported may be such */
  constructor(
    kind: StreamKind,
    private readonly longWrites = false,
  ) {
    this.dialect = dialects[kind];
  }

  /**
   * Takes in one event of a stream. True for the last chunk of a chat, which carries the usage and no choices: a client
   * that did not ask for it with `stream_options.include_usage` must not get it.
   */
  addEvent({ data }: SseEvent): boolean {
    if (data === null) return false;
    if (data === '[DONE]') {
      if (this.reading.end === 'open') this.reading.end = 'complete';
      return false;
    }
    const json = parseObject(data);
    return json !== null && this.dialect.event(json, this.reading);
  }

  /** Takes in the whole body of an answer that was not streamed. */
  addAnswer(body: Buffer): void {
    const json = readObject(body);
    if (json === null) return;
    this.dialect.answer(json, this.reading);
    this.reading.end = 'complete';
  }

  /** What the upstream reported, cached and written input apart from input; null while it has not. */
  reported(): TokenCounts | null {
    const { input, output, cachedInput = 0, kinds = NO_KINDS } = this.reading;
    if (input === undefined || output === undefined) return null;
    const sorted = sortInput({ input, cached: Math.min(cachedInput, input) }, kinds);
    return countsOf(sorted, this.written(output), this.writes(sorted.text));
  }

  /** What was streamed without a count that covers it is the least that was written, in all and of images. */
  private written(output: number): ReturnType<typeof sortOutput> {
    const { isFinal, isBeyondCount = false, kinds = NO_KINDS, imageTokens = 0 } = this.reading;
    if (isFinal && !isBeyondCount) return sortOutput(output, kinds.output);
    const image = Math.max(kinds.output.image ?? 0, imageTokens);
    return sortOutput(Math.max(output, this.streamedTokens()), { ...kinds.output, image });
  }

  /** Writes are part of the input, whatever is reported of them. */
  private writes(most: number): { short: number; long: number } {
    const { short, long, untold } = this.reading.writes;
    const [all, forLong] = [short + long + untold, this.longWrites ? long + untold : long];
    const counted = Math.min(forLong, most);
    return { short: Math.min(all - forLong, most - counted), long: counted };
  }

  /** An estimate of the output from what was streamed, rounded up: for an upstream that reports nothing. */
  streamed(): bigint {
    return toTokens(this.streamedTokens());
  }

  private streamedTokens(): number {
    return Math.ceil(this.reading.characters / CHARACTERS_PER_TOKEN);
  }

  /**
   * What to bill: as reported, else the caller's estimates and what was streamed, whichever output is more. A report of
   * text that has no input says how much the output is.
   */
  billable(estimated: TokenCounts): TokenCounts {
    const { isFinal, output: reported = 0 } = this.reading;
    const streamed = this.streamed();
    const likely = streamed > estimated.output ? streamed : estimated.output;
    const output = isFinal && reported > 0 && !estimated.audioOutput ? toTokens(reported) : likely;
    const imageOutput = toTokens(this.reading.imageTokens ?? 0);
    const written = imageOutput > 0n ? { output: output - imageOutput, imageOutput } : { output };
    return this.reported() ?? { ...estimated, ...written };
  }

  /** The length of the sound that was heard, as reported, in whole seconds; undefined where it was not. */
  get seconds(): bigint | undefined {
    const { seconds } = this.reading;
    return seconds === undefined ? undefined : toTokens(seconds);
  }

  /** How many answers to the one request were seen; 0 in dialects that have one at most. */
  get answers(): number {
    return this.reading.answers;
  }

  /** Nothing of the answer follows, as far as its events say; not every dialect has an event that is the last for sure. */
  get isFinal(): boolean {
    return this.reading.isFinal;
  }

  /** `open` when the stream ended without its last event: it was cut off. `failed` after an error event. */
  get end(): 'open' | 'complete' | 'failed' {
    return this.reading.end;
  }
}

function parseObject(text: string): JsonObject | null {
  try {
    return asObject(JSON.parse(text));
  } catch {
    return null;
  }
}
