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
