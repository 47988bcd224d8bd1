import type { Channel } from '#catalog/catalog.js';
import { readError, readObject } from '../answers.js';
import type { ChannelCalls } from '../channel-calls.js';
import { isOurFault } from '../classification.js';
import type { HttpAnswer } from '../http-call.js';

/** The possible findings of a test, as an operator reads them. */
const FINDINGS = {
  answers: 'answers, and takes the key',
  no_answer: 'no answer',
  refuses_key: 'refuses the key',
  asked_too_often: 'says that it is asked too often',
  vendor_fault: 'has a fault of its own',
  proves_nothing: 'answers, but offers nothing at this path that would prove the key',
  unknown_protocol: 'this version knows no protocol',
} as const;

export type ProbeFinding = keyof typeof FINDINGS;
export const probeFindings = Object.keys(FINDINGS) as [ProbeFinding, ...ProbeFinding[]];

export interface ProbeResult {
  /** `unsure`: the vendor answers, but not in a way that proves the key. */
  verdict: 'ok' | 'unsure' | 'failed';
  /** The request. */
  path: string;
  status: number | null;
  finding: ProbeFinding;
  /** The same as a sentence, with any details. */
  detail: string;
}

export function failedProbe(
  finding: Extract<ProbeFinding, 'no_answer' | 'unknown_protocol'>,
  { path, status, about }: Pick<ProbeResult, 'path' | 'status'> & { about: string },
): ProbeResult {
  return { verdict: 'failed', path, status, finding, detail: `${FINDINGS[finding]}: ${about}` };
}

/** A free request to its vendor: the list of models, or a task that does not exist. */
export interface FreeRequest {
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** This vendor's answer to a valid key if it has no list of models. */
  readonly expected?: number;
}

/** Sends the vendor behind a channel a free request that needs the key. Never throws. */
export async function probe(
  calls: ChannelCalls,
  channel: Channel,
  { path, headers, expected, signal }: FreeRequest & { signal: AbortSignal },
): Promise<ProbeResult> {
  const result = await calls.get(channel, path, { signal, headers });
  if (result.kind === 'failure')
    return failedProbe('no_answer', { path, status: result.status, about: result.reason });
  const [verdict, finding] = verdictOf(result, expected);
  return { verdict, path, status: result.status, finding, detail: FINDINGS[finding] };
}

function verdictOf(
  { status, body }: HttpAnswer,
  expected: number | undefined,
): [ProbeResult['verdict'], ProbeFinding] {
  if ((status >= 200 && status < 300) || status === expected) return ['ok', 'answers'];
  // Google answers 400 to a wrong key.
  const error = status === 400 ? readError(readObject(body)) : null;
  if (status === 401 || status === 403 || (error && isOurFault(error))) return ['failed', 'refuses_key'];
  if (status === 429) return ['unsure', 'asked_too_often'];
  if (status >= 500) return ['failed', 'vendor_fault'];
  return ['unsure', 'proves_nothing'];
}

/** A test of a channel with one of its keys. */
export interface KeyTrial extends ProbeResult {
  /** Which of the channel's keys, from 1. */
  key: number;
  latencyMs: number;
}

/** Tests a channel with all of its keys at once, each within a time limit. It is free with every vendor. Never throws. */
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
