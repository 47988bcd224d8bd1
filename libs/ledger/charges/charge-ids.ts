import { createHash } from 'node:crypto';

/** Charges of one request: one for each model that it may be sent to. */
export const MAX_ATTEMPTS = 5;

const TIME_CHARS = 10;
const RANDOM_CHARS = 16;
const RANDOM_BYTES = 10;

/**
 * The charges that a request may have, in order. The first has the request's own id. A model that accepted nothing
 * leaves a released charge. The next model has its own, whose id is derived from the request's.
 */
export function chargeIdsOf(requestId: string): string[] {
  return Array.from({ length: MAX_ATTEMPTS }, (_, ordinal) => chargeIdOf(requestId, ordinal));
}

/** With the time of the request, as the usage log expects of its ids. */
export function chargeIdOf(requestId: string, ordinal: number): string {
  if (ordinal === 0) return requestId;
  const hash = createHash('sha256').update(`${requestId} ${ordinal}`).digest().subarray(0, RANDOM_BYTES);
  const random = BigInt(`0x${hash.toString('hex')}`)
    .toString(32)
    .padStart(RANDOM_CHARS, '0');
  return requestId.slice(0, TIME_CHARS) + random;
}
