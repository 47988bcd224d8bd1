import { ApiError } from '#platform/errors.js';

/** As clients write it, for messages and `param`. */
const PARAM = 'Idempotency-Key';
const NAME = /^[\x20-\x7e]{1,255}$/;

/** The name that a request gives its key. @throws ApiError invalid_value */
export function checkedKeyName(name: string | string[]): string {
  const text = String(name);
  if (NAME.test(text)) return text;
  throw new ApiError('invalid_value', `${PARAM} must be 1 to 255 printable ASCII characters.`, {
    param: PARAM,
  });
}

export function otherContent(): ApiError {
  const message = `This ${PARAM} was used with another request. Use a new key for each request, and the same for its repeats.`;
  return new ApiError('idempotency_key_reused', message, { param: PARAM, shouldRetry: false });
}

export function unknownOutcome(): ApiError {
  const message =
    `The outcome of the first request with this ${PARAM} is not known: it was interrupted while in progress. ` +
    'What it cost, if anything, is in the usage log; nothing more will be charged under this key.';
  return new ApiError('idempotency_outcome_unknown', message, { param: PARAM, shouldRetry: false });
}

/** May be repeated by an SDK: it comes with the same key, so it cannot be charged again. */
export function stillRunning(): ApiError {
  const message = `The first request with this ${PARAM} is still in progress. Ask again with the same key.`;
  return new ApiError('service_unavailable', message, { param: PARAM, retryAfterSeconds: 5 });
}
