import type { NotAccepted, Refused, Unknown } from '#upstream/outcomes.js';

/** The outcome of a call without a result, in the contract's words. */
export function failureText(outcome: Refused | NotAccepted | Unknown): string {
  if (outcome.kind === 'refused') {
    const { status, code, message } = outcome;
    return `refused ${status} ${code}${SHORT_AND_PLAIN.test(message) ? '' : ', raw'}`;
  }
  const { kind, upstreamStatus } = outcome;
  if (kind === 'unknown') return `unclear ${upstreamStatus ?? 'without an answer'}`;
  return `not accepted ${upstreamStatus ?? 'and not sent'}`;
}

/** A vendor's text as a client may see it. */
const SHORT_AND_PLAIN = /^\P{Cc}{0,500}$/u;
