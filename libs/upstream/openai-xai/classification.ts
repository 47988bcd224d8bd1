import type { ErrorCode } from '#platform/errors.js';
import type { HttpAnswer, HttpFailure } from '../http-call.js';
import type { NotAccepted, Refused, Unknown } from '../outcomes.js';
import { readError, readObject, type UpstreamError } from './answers.js';

/** What a status says about a create (design.md 4, "Accepted or not"). */
export type Verdict =
  | 'read' // the body tells what was accepted
  | 'callers_fault' // refused for what the caller sent
  | 'not_accepted' // refused for a reason that is ours: another channel may be asked
  | 'safe_if_vendor_says' // not accepted, if the vendor itself said so and not some proxy in between
  | 'unknown';

interface Row {
  from: number;
  to: number;
  verdict: Verdict;
}

/** The first row that holds decides. */
export const verdicts: readonly Row[] = [
  { from: 200, to: 299, verdict: 'read' },
  // 303 answers a POST that was carried out; the other redirections point to a place where it was not yet sent.
  { from: 303, to: 303, verdict: 'unknown' },
  { from: 300, to: 399, verdict: 'not_accepted' },
  { from: 400, to: 400, verdict: 'callers_fault' },
  // A repeat that meets its first attempt at work: that one may well be accepted.
  { from: 409, to: 409, verdict: 'unknown' },
  { from: 415, to: 415, verdict: 'callers_fault' },
  { from: 422, to: 422, verdict: 'callers_fault' },
  // 401, 402, 403 of our own key, 404 of a model or path we configured, 429 of our own limit.
  { from: 400, to: 499, verdict: 'not_accepted' },
  // "Overloaded, try later": both vendors refuse with it before any work. A proxy also answers 503 when the
  // connection behind it broke, which proves nothing.
  { from: 503, to: 503, verdict: 'safe_if_vendor_says' },
];

function verdictOf(status: number): Verdict {
  return verdicts.find(({ from, to }) => status >= from && status <= to)?.verdict ?? 'unknown';
}

/** Words by which upstreams refuse a prompt for its content, under whatever status. */
const MODERATION = /content[_ -]?policy|moderation|safety[_ -]?(system|violation)|usage guidelines/i;
/** xAI answers 400 to a wrong key of ours, which is no fault of the caller. */
const OUR_KEY = /\b(incorrect|invalid)[ _]api[ _]key\b/i;

/** Turns the end of a create call into an outcome; `read` gets the answers that say what was accepted. */
export function classifyCreate<T>(
  result: HttpAnswer | HttpFailure,
  read: (answer: HttpAnswer) => T,
): T | Refused | NotAccepted | Unknown {
  if (result.kind === 'failure') {
    const { sent, reason, status } = result;
    return { kind: sent ? 'unknown' : 'not_accepted', reason, upstreamStatus: status };
  }
  const verdict = verdictOf(result.status);
  if (verdict === 'read') return read(result);
  const error = readError(readObject(result.body));
  const reason = `HTTP ${result.status}${error ? `: ${error.message}` : ''}`;
  if (verdict === 'unknown') return { kind: 'unknown', reason, upstreamStatus: result.status };
  if (error && isRefusalOfContent(result.status, error)) return refused(result.status, error);
  if (verdict === 'callers_fault' && !(error && OUR_KEY.test(`${error.code} ${error.message}`))) {
    return refused(result.status, error);
  }
  const proven = verdict !== 'safe_if_vendor_says' || error !== null;
  return { kind: proven ? 'not_accepted' : 'unknown', reason, upstreamStatus: result.status };
}

function isRefusalOfContent(status: number, { code, message }: UpstreamError): boolean {
  return [400, 403, 422].includes(status) && MODERATION.test(`${code} ${message}`);
}

function refused(upstreamStatus: number, error: UpstreamError | null): Refused {
  const ofContent = error !== null && isRefusalOfContent(upstreamStatus, error);
  const status = upstreamStatus === 415 || upstreamStatus === 422 ? upstreamStatus : 400;
  return {
    kind: 'refused',
    status: ofContent ? 400 : status,
    code: refusalCode(ofContent, status),
    message: error?.message ?? 'The upstream refused the request.',
    upstreamStatus,
  };
}

function refusalCode(ofContent: boolean, status: number): ErrorCode {
  if (ofContent) return 'content_policy_violation';
  return status === 415 ? 'unsupported_media_type' : 'upstream_rejected';
}
