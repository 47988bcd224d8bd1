/** The first request under an Idempotency-Key, on its way to an answer. */
export interface Claim {
  readonly chargeId: string;
  /** Credits are or were held, and the upstream may have begun the work. */
  held: boolean;
  /** Its outcome is stored, or being stored. */
  ended: boolean;
  handlerIsDone: boolean;
  /** Until when no other gateway can take the request for abandoned, by this process's clock; 0 if one could have. */
  leaseEndMs: number;
  /** It stopped because a repeat may have been answered from its task. Later repeats must get the same answer. */
  isLost: boolean;
}

/** Statuses after a hold whose credits were released, so that the same request could pass later. */
const PASSING: readonly number[] = [429, 503];

export function newClaim(chargeId: string, leaseEndMs: number): Claim {
  return { chargeId, held: false, ended: false, handlerIsDone: false, leaseEndMs, isLost: false };
}

/**
 * Whether a status is the answer to all repeats: any after a hold, unless it says that a retry may succeed. A refusal or
 * dry run before is not.
 */
export function isFinal(status: number, { held }: Claim): boolean {
  return held && !PASSING.includes(status);
}
