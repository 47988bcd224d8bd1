import { Refusal } from './answers.js';

/** The faults that a prompt can order with `[[fault:NAME]]`; the README says what each does. */
export const faultNames = [
  'reject-400',
  'reject-415',
  'reject-422',
  'reject-503',
  'moderation',
  'fail-late',
  'never-finish',
  'unknown-status',
  'done-word',
  'poll-5xx',
  'accept-then-timeout',
  'partial',
  'slow-bytes',
  'truncated',
  'bad-file',
] as const;

export type Fault = (typeof faultNames)[number];

export interface Directives {
  faults: Fault[];
  /** How long the work takes, in milliseconds; undefined when the prompt leaves it to the configuration. */
  workMs: number | undefined;
  /** The prompt without its directives: what is drawn. */
  caption: string;
}

/** `[[instant]]` is looked for in the raw prompt, before anything else costs time: benchmarks measure the relay. */
export const INSTANT = '[[instant]]';

/** Work longer than a day is a slip of the pen, and timers cannot hold more than 24 days. */
const MAX_WORK_SECONDS = 86_400;

const DIRECTIVE = /\[\[(fault|work):([^\]]{0,64})\]\]/g;

/** Reads the directives of a prompt. @throws Refusal 400 on a misspelt one, so that no test passes by a typo. */
export function readDirectives(prompt: string): Directives {
  const faults: Fault[] = [];
  let workMs: number | undefined;
  for (const [, verb, value = ''] of prompt.matchAll(DIRECTIVE)) {
    if (verb === 'fault') faults.push(readFault(value));
    else workMs = readWork(value);
  }
  const caption = prompt.replace(DIRECTIVE, ' ').replaceAll(INSTANT, ' ').replace(/\s+/g, ' ').trim();
  return { faults, workMs, caption };
}

/** Refuses a create as its prompt orders; nothing has been done by then. */
export function refuseAsOrdered(faults: readonly Fault[]): void {
  if (faults.includes('reject-400')) throw new Refusal(400, 'invalid_request', 'Refused as ordered (400).');
  if (faults.includes('reject-415'))
    throw new Refusal(415, 'unsupported_media_type', 'Refused as ordered (415).');
  if (faults.includes('reject-422')) throw new Refusal(422, 'unprocessable', 'Refused as ordered (422).');
  if (faults.includes('reject-503'))
    throw new Refusal(503, 'service_unavailable', 'Refused as ordered (503).');
  if (faults.includes('moderation')) {
    throw new Refusal(
      400,
      'content_policy_violation',
      'The prompt was refused by the content rules.',
      'prompt',
    );
  }
}

function readFault(name: string): Fault {
  const fault = faultNames.find((known) => known === name);
  if (!fault) throw new Refusal(400, 'unknown_directive', `No fault is named "${name}".`, 'prompt');
  return fault;
}

function readWork(text: string): number {
  const seconds = /^\d{1,9}(\.\d{1,3})?$/.test(text) ? Number(text) : NaN;
  if (!(seconds <= MAX_WORK_SECONDS)) {
    throw new Refusal(400, 'unknown_directive', `[[work:SECONDS]] takes 0 to ${MAX_WORK_SECONDS}.`, 'prompt');
  }
  return Math.round(seconds * 1000);
}
