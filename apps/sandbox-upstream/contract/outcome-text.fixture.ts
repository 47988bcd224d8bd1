import type { NotAccepted, Refused, Unknown } from '#upstream/outcomes.js';

/** What became of a call that brought nothing, in the words of the contract. */
export function failureText(outcome: Refused | NotAccepted | Unknown): string {
  if (outcome.kind === 'refused') return `refused ${outcome.status} ${outcome.code}`;
  const { kind, upstreamStatus } = outcome;
  if (kind === 'unknown') return `unclear ${upstreamStatus ?? 'without an answer'}`;
  return `not accepted ${upstreamStatus ?? 'and not sent'}`;
}
