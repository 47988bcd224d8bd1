import type { TokenCounts } from '#pricing/token-kinds.js';
import { asObject, type JsonObject, readObject } from './answers.js';
import type { StreamKind } from './outcomes.js';
import type { SseEvent } from './sse-splitter.js';
import { dialects } from './usage-dialects.js';
import { countsOf, NO_KINDS, sortInput, sortOutput, toTokens } from './usage/usage-kinds.js';
import { CHARACTERS_PER_TOKEN, type UsageDialect, type UsageReading } from './usage/usage-reading.js';

/**
 * Reads the token usage from the answer of a pass-through call, event by event or from the whole. It keeps no text, and
 * ignores what it cannot read: metering never breaks a stream.
 */
export class UsageMeter {
  private readonly reading: UsageReading = {
    writes: { short: 0, long: 0, untold: 0 },
    isFinal: false,
    characters: 0,
    answers: 0,
    finished: new Set(),
    end: 'open',
  };
  private readonly dialect: UsageDialect;

  /** @param longWrites the request asked for an hour of caching, so writes without a reported time may be of this kind */
  constructor(
    kind: StreamKind,
    private readonly longWrites = false,
  ) {
    this.dialect = dialects[kind];
  }

  /**
   * Reads one event of a stream. True for the last chunk of a chat, which has the usage and no choices. A client that
   * did not ask for it with `stream_options.include_usage` must not receive it.
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

  /** Reads the whole body of an answer that was not streamed. */
  addAnswer(body: Buffer): void {
    const json = readObject(body);
    if (json === null) return;
    this.dialect.answer(json, this.reading);
    this.reading.end = 'complete';
  }

  /** The reported usage, with cached and written input apart from input; null until it is reported. */
  reported(): TokenCounts | null {
    const { input, output, cachedInput = 0, kinds = NO_KINDS } = this.reading;
    if (input === undefined || output === undefined) return null;
    const sorted = sortInput({ input, cached: Math.min(cachedInput, input) }, kinds);
    return countsOf(sorted, this.written(output), this.writes(sorted.text));
  }

  /** What was streamed without a count is the least that was written, in total and of images. */
  private written(output: number): ReturnType<typeof sortOutput> {
    const { isFinal, isBeyondCount = false, kinds = NO_KINDS, imageTokens = 0 } = this.reading;
    if (isFinal && !isBeyondCount) return sortOutput(output, kinds.output);
    const image = Math.max(kinds.output.image ?? 0, imageTokens);
    return sortOutput(Math.max(output, this.streamedTokens()), { ...kinds.output, image });
  }

  /** Writes are part of the input, whatever is reported about them. */
  private writes(most: number): { short: number; long: number } {
    const { short, long, untold } = this.reading.writes;
    const [all, forLong] = [short + long + untold, this.longWrites ? long + untold : long];
    const counted = Math.min(forLong, most);
    return { short: Math.min(all - forLong, most - counted), long: counted };
  }

  /** An estimate of the output from what was streamed, rounded up, for an upstream that reports nothing. */
  streamed(): bigint {
    return toTokens(this.streamedTokens());
  }

  private streamedTokens(): number {
    return Math.ceil(this.reading.characters / CHARACTERS_PER_TOKEN);
  }

  /**
   * What to bill: as reported, otherwise the caller's estimates and what was streamed, whichever output is more. A
   * report for text without input still gives the output.
   */
  billable(estimated: TokenCounts): TokenCounts {
    const { isFinal, isBeyondCount = false, output: reported = 0 } = this.reading;
    const counted = isBeyondCount ? Math.max(reported, this.streamedTokens()) : reported;
    const streamed = this.streamed();
    const likely = streamed > estimated.output ? streamed : estimated.output;
    const output = isFinal && reported > 0 && !estimated.audioOutput ? toTokens(counted) : likely;
    const imageOutput = toTokens(this.reading.imageTokens ?? 0);
    const written = imageOutput > 0n ? { output: output - imageOutput, imageOutput } : { output };
    return this.reported() ?? { ...estimated, ...written };
  }

  /** The reported length of the sound in whole seconds; undefined if it was not reported. */
  get seconds(): bigint | undefined {
    const { seconds } = this.reading;
    return seconds === undefined ? undefined : toTokens(seconds);
  }

  /** How many answers to the request were seen; 0 in dialects with at most one. */
  get answers(): number {
    return this.reading.answers;
  }

  /** Each answer gave its reason to end. In some dialects, no event is certainly the last. */
  get isFinished(): boolean {
    const { answers, finished } = this.reading;
    return finished.size > 0 && finished.size >= answers;
  }

  /** `open` if the stream was cut off before its last event, `failed` after an error event. */
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
