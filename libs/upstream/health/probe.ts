import type { Channel } from '#catalog/catalog.js';
import { readError, readObject } from '../answers.js';
import type { ChannelCalls } from '../channel-calls.js';
import { isOurFault } from '../classification.js';
import type { HttpAnswer } from '../http-call.js';

/** What a trial of a channel came to. */
export interface ProbeResult {
  /** `unsure`: the vendor answers, but not in a way that proves the key. */
  verdict: 'ok' | 'unsure' | 'failed';
  /** What was asked for. */
  path: string;
  status: number | null;
  /** A sentence for the operator. */
  detail: string;
}

/** Free of charge with its vendor: the list of models, or a task that is not there. */
export interface FreeRequest {
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** What this vendor answers to a good key where it has no list of models to ask for. */
  readonly expected?: number;
}

/** Asks the vendor behind a channel for something free that needs the key. Never throws. */
export async function probe(
  calls: ChannelCalls,
  channel: Channel,
  { path, headers, expected, signal }: FreeRequest & { signal: AbortSignal },
): Promise<ProbeResult> {
  const result = await calls.get(channel, path, { signal, headers });
  if (result.kind === 'failure') {
    return { verdict: 'failed', path, status: result.status, detail: `no answer: ${result.reason}` };
  }
  return { path, status: result.status, ...verdictOf(result, expected) };
}

function verdictOf(
  { status, body }: HttpAnswer,
  expected: number | undefined,
): Pick<ProbeResult, 'verdict' | 'detail'> {
  if ((status >= 200 && status < 300) || status === expected)
    return { verdict: 'ok', detail: 'answers, and takes the key' };
  // Google answers 400 to a wrong key.
  const error = status === 400 ? readError(readObject(body)) : null;
  if (status === 401 || status === 403 || (error && isOurFault(error)))
    return { verdict: 'failed', detail: 'refuses the key' };
  if (status === 429) return { verdict: 'unsure', detail: 'says that it is asked too often' };
  if (status >= 500) return { verdict: 'failed', detail: 'has a fault of its own' };
  return { verdict: 'unsure', detail: 'answers, but offers nothing at this path that would prove the key' };
}

/** A trial of a channel with one of its keys. */
export interface KeyTrial extends ProbeResult {
  /** Which of the channel's keys, from 1. */
  key: number;
  latencyMs: number;
}

/** Tries a channel with each of its keys at once, each within a time. It costs nothing with any vendor. Never throws. */
export async function probeKeys(
  channel: Channel,
  timeoutMs: number,
  ask: (channel: Channel, signal: AbortSignal) => Promise<ProbeResult>,
): Promise<KeyTrial[]> {
  return Promise.all(
    channel.apiKeys.map(async (apiKey, index) => {
      const beganMs = performance.now();
      const trial = await ask(
        { ...channel, apiKey, requestTimeoutMs: timeoutMs },
        AbortSignal.timeout(timeoutMs),
      );
      return { key: index + 1, latencyMs: Math.round(performance.now() - beganMs), ...trial };
    }),
  );
}
