import { CONTENT_REFUSED, VendorRefusal, WRONG_KEY, refusedField } from './answers.js';

/** The faults that a prompt can request with `[[fault:NAME]]`. The README describes each. */
export const faultNames = [
  'reject-400',
  'reject-401',
  'reject-403',
  'reject-404',
  'reject-415',
  'reject-422',
  'reject-429',
  'reject-500',
  'reject-503',
  'reject-529',
  'error-200',
  'moderation',
  'fail-late',
  'never-finish',
  'unknown-status',
  'done-word',
  'poll-5xx',
  'poll-429',
  'another-id',
  'early-end',
  'accept-then-timeout',
  'partial',
  'slow-bytes',
  'truncated',
  'bad-file',
  'late-file',
  'no-usage',
  'mid-stream-error',
  'stream-cut',
] as const;

export type Fault = (typeof faultNames)[number];

export interface Directives {
  faults: Fault[];
  /** How long the work takes, in milliseconds. Undefined: as configured. */
  workMs: number | undefined;
  /** The length of a text answer, and how much of the input counts as cached. Undefined if not requested. */
  tokens: number | undefined;
  cachedTokens: number | undefined;
  /** The reported length of a sound. Undefined if not requested. */
  seconds: number | undefined;
  /** The prompt without its directives: what is drawn. */
  caption: string;
}

/** `[[instant]]` is searched in the raw prompt before anything else, because benchmarks measure the relay. */
export const INSTANT = '[[instant]]';

/** Longer than a day is a typing error, and timers cannot exceed 24 days. */
const MAX_WORK_SECONDS = 86_400;

/** A streamed answer of a million tokens is 200 MB. More would prove nothing. */
const MAX_TOKENS = 1_000_000;

const DIRECTIVE = /\[\[(fault|work|tokens|cached|seconds):([^\]]{0,64})\]\]/g;

/** Reads the directives of a prompt. @throws VendorRefusal 400 on a misspelt one, so that no test passes by a typo. */
export function readDirectives(prompt: string): Directives {
  const faults: Fault[] = [];
  let workMs: number | undefined;
  let tokens: number | undefined;
  let cachedTokens: number | undefined;
  let seconds: number | undefined;
  for (const [, verb, value = ''] of prompt.matchAll(DIRECTIVE)) {
    if (verb === 'fault') faults.push(readFault(value));
    else if (verb === 'work') workMs = readWork(value);
    else if (verb === 'tokens') tokens = readTokens(value);
    else if (verb === 'seconds') seconds = readTokens(value);
    else cachedTokens = readTokens(value);
  }
  const caption = prompt.replace(DIRECTIVE, ' ').replaceAll(INSTANT, ' ').replace(/\s+/g, ' ').trim();
  return { faults, workMs, tokens, cachedTokens, seconds, caption };
}

/** The vendor's word for each status that a prompt can request. */
const REJECTIONS: Record<string, [status: number, code: string]> = {
  'reject-400': [400, 'invalid_request'],
  'reject-401': [401, WRONG_KEY],
  'reject-403': [403, 'permission_denied'],
  'reject-404': [404, 'model_not_found'],
  'reject-415': [415, 'unsupported_media_type'],
  'reject-422': [422, 'unprocessable'],
  'reject-429': [429, 'rate_limit_exceeded'],
  'reject-500': [500, 'internal_error'],
  'reject-503': [503, 'service_unavailable'],
  'reject-529': [529, 'overloaded'],
  // The status of a success with the body of an error.
  'error-200': [200, 'internal_error'],
};

/** Refuses a create as its prompt orders; nothing has been done by then. */
export function refuseAsOrdered(faults: readonly Fault[]): void {
  for (const fault of faults) {
    const [status, code] = REJECTIONS[fault] ?? [];
    if (status && code) throw new VendorRefusal(status, code, `Refused as ordered (${status}).`);
  }
  if (faults.includes('moderation')) {
    throw refusedField('prompt', 'The prompt was refused by the content rules.', CONTENT_REFUSED);
  }
}

function readFault(name: string): Fault {
  const fault = faultNames.find((known) => known === name);
  if (!fault) throw refusedField('prompt', `No fault is named "${name}".`, 'unknown_directive');
  return fault;
}

function readWork(text: string): number {
  const seconds = /^\d{1,9}(\.\d{1,3})?$/.test(text) ? Number(text) : NaN;
  if (!(seconds <= MAX_WORK_SECONDS)) {
    throw refusedField('prompt', `[[work:SECONDS]] takes 0 to ${MAX_WORK_SECONDS}.`, 'unknown_directive');
  }
  return Math.round(seconds * 1000);
}

function readTokens(text: string): number {
  const count = /^\d{1,9}$/.test(text) ? Number(text) : NaN;
  if (count <= MAX_TOKENS) return count;
  throw refusedField('prompt', `Tokens and seconds are 0 to ${MAX_TOKENS}.`, 'unknown_directive');
}
