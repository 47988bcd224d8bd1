import type { ErrorCode } from '#platform/errors.js';
import type { HttpAnswer, HttpFailure } from './http-call.js';
import type { NotAccepted, Refused, Unknown } from './outcomes.js';
import {
  asText,
  isOfContent,
  type JsonObject,
  plainError,
  readError,
  readObject,
  type UpstreamError,
} from './answers.js';

/** What a status says about a create. */
type Verdict =
  | 'read' // the body shows what was accepted
  | 'callers_fault' // refused for what the caller sent
  | 'not_accepted' // refused for a reason that is ours: another channel may be asked
  | 'given_up' // what it was asked for will not come of this call: see `provesNothingTaken`
  | 'unknown';

/** One row of the table: a range of statuses, including both ends. */
export interface VerdictRow {
  from: number;
  to: number;
  verdict: Verdict;
}

/** The rules for every protocol, unless its own rows say otherwise. The first matching row decides. */
const verdicts: readonly VerdictRow[] = [
  { from: 200, to: 299, verdict: 'read' },
  // 303 answers a POST that was carried out. The other redirections point to a place where it was not sent yet.
  { from: 303, to: 303, verdict: 'unknown' },
  { from: 300, to: 399, verdict: 'not_accepted' },
  { from: 400, to: 400, verdict: 'callers_fault' },
  // A repeat that meets its first attempt in progress, which may well be accepted.
  { from: 409, to: 409, verdict: 'unknown' },
  { from: 415, to: 415, verdict: 'callers_fault' },
  { from: 422, to: 422, verdict: 'callers_fault' },
  // 401, 402, 403 for our own key, 404 for a model or path that we configured, 429 for our own limit.
  { from: 400, to: 499, verdict: 'not_accepted' },
  { from: 500, to: 500, verdict: 'given_up' },
  { from: 502, to: 503, verdict: 'given_up' },
  // Cloudflare's own: its origin refused the connection, was unreachable, or failed the TLS handshake. 520 and 524 come
  // after the request was forwarded, and 504 from any proxy means that the vendor may still be working.
  { from: 521, to: 523, verdict: 'not_accepted' },
  { from: 525, to: 526, verdict: 'not_accepted' },
];

/** What a call brings: all of it is in the answer, or it starts a task that continues afterwards. */
export type Yield = 'answer' | 'task';

/** Where the answer to a create has the id of what it created. */
const CREATED_IDS = ['id', 'request_id', 'task_id', 'name', 'result'];

/**
 * Whether an upstream that ended a call provably keeps nothing of it. A synchronous call is over with its answer:
 * nothing arrives later that would have to be paid, and no vendor bills a call that it answered with such a status. A
 * task may continue behind a proxy that lost the answer to its create: only the vendor's own error, without a task id,
 * says that there is none.
 */
function provesNothingTaken(yields: Yield, body: JsonObject | null, error: UpstreamError | null): boolean {
  if (yields === 'answer') return true;
  return error !== null && !CREATED_IDS.some((field) => asText(body?.[field]));
}

/**
 * Errors with a status for the caller's faults although the fault is ours: the operator's key, balance, or location.
 * Another channel may do better.
 */
const ourFaults: readonly RegExp[] = [
  // xAI and Gemini answer 400 to a wrong key.
  /\b(incorrect|invalid)[ _]api[ _]key\b/i,
  /\bapi key (not valid|expired)\b/i,
  // OpenAI and Anthropic answer 400 when the operator's balance is used up.
  /billing[_ ](hard[_ ])?limit|insufficient_quota|credit balance is too low/i,
  /organization has been disabled/i,
  // Gemini: the operator's country, or billing that is not enabled.
  /user location is not supported|failed_precondition/i,
  // Ark: the operator's endpoint is closed, or the vendor's own content check failed.
  /\bInvalidEndpoint\.|\bContentSecurityDetectionError\b/,
];

function verdictOf(status: number, ownRows: readonly VerdictRow[]): Verdict {
  const fits = ({ from, to }: VerdictRow) => status >= from && status <= to;
  return (ownRows.find(fits) ?? verdicts.find(fits))?.verdict ?? 'unknown';
}

/** The part of an answer that a verdict needs. */
type Answered = Pick<HttpAnswer, 'kind' | 'status' | 'body'>;

/** Whether a status alone says that the body shows what was accepted. */
export function isToBeRead(status: number, ownRows: readonly VerdictRow[] = []): boolean {
  return verdictOf(status, ownRows) === 'read';
}

/** How the answer to a paid call is read. */
export interface Reading<T> {
  /** Receives the answers that say what was accepted. */
  read: (answer: HttpAnswer) => T;
  yields: Yield;
  manner?: VendorManner | undefined;
}

/** Where a vendor's errors differ from those of most. */
export interface VendorManner {
  /** Verdicts on statuses. The first matching row decides. */
  verdicts?: readonly VerdictRow[];
  /** The content of an error in the vendor's own format. */
  errorOf?: (body: JsonObject | null) => UpstreamError | null;
}

/** Turns the end of a paid call into an outcome. */
export function classify<T>(
  result: HttpAnswer | HttpFailure,
  { read, yields, manner = {} }: Reading<T>,
): T | Refused | NotAccepted | Unknown {
  if (result.kind === 'failure') {
    const { sent, reason, status } = result;
    return { kind: sent ? 'unknown' : 'not_accepted', reason, upstreamStatus: status };
  }
  return isToBeRead(result.status, manner.verdicts) ? read(result) : classifyError(result, yields, manner);
}

/** The meaning of an answer that is no success. */
export function classifyError(
  { status, body }: Answered,
  yields: Yield,
  { verdicts: ownRows = [], errorOf = readError }: VendorManner = {},
): Refused | NotAccepted | Unknown {
  const verdict = verdictOf(status, ownRows);
  const object = readObject(body);
  const said = errorOf(object);
  const error = said && plainError(said);
  const reason = `HTTP ${status}${error ? `: ${error.message}` : ''}`;
  if (verdict === 'unknown') return { kind: 'unknown', reason, upstreamStatus: status };
  if (error && isRefusalOfContent(status, error)) return refused(status, error);
  if (verdict === 'callers_fault' && !(error && isOurFault(error))) return refused(status, error);
  const proven = verdict !== 'given_up' || provesNothingTaken(yields, object, error);
  return { kind: proven ? 'not_accepted' : 'unknown', reason, upstreamStatus: status };
}

/** Whether an error is about the operator's key, balance or location. */
export function isOurFault({ code, message }: UpstreamError): boolean {
  return ourFaults.some((words) => words.test(`${code} ${message}`));
}

function isRefusalOfContent(status: number, error: UpstreamError): boolean {
  return [400, 403, 422].includes(status) && isOfContent(error);
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
