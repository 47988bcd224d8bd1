import { creditNanos, multiply, type Nanos, parseDecimal, type Decimal } from '#money/amount.js';

/** The inviter gets this part of each rewarded top-up. */
const REWARD_SHARE: Decimal = parseDecimal('0.1');
/** Only the invitee's first two successful top-ups are rewarded. */
export const REWARDED_TOPUPS = 2;

/**
 * The reward, in nanos of invite balance, for the invitee's top-up with this ordinal (1 is the first successful one).
 * Zero when the ordinal earns none.
 */
export function inviteReward(credits: Nanos, ordinal: number): Nanos {
  if (ordinal < 1 || ordinal > REWARDED_TOPUPS) return 0n as Nanos;
  return creditNanos(multiply({ digits: credits, scale: 9 }, REWARD_SHARE));
}

/** A reward and the state of its top-up, in nanos. */
export interface GivenReward {
  readonly amount: bigint;
  /** The credits of the top-up, and how much of it was refunded or charged back. */
  readonly credits: bigint;
  readonly reversed: bigint;
  readonly clawedBack: bigint;
}

/**
 * The part of a reward that is still to be taken back, in nanos: in proportion to the reversed part of its top-up,
 * rounded down. 0 or less: nothing.
 */
export function dueClawback({ amount, credits, reversed, clawedBack }: GivenReward): bigint {
  return (amount * reversed) / credits - clawedBack;
}

/** The part of an invite balance that can be transferred to main now: without rewards whose payments may still be reversed. */
export function movableOf(invite: bigint, pending: readonly { readonly amount: bigint }[]): bigint {
  const waiting = pending.reduce((sum, { amount }) => sum + amount, 0n);
  return invite > waiting ? invite - waiting : 0n;
}
