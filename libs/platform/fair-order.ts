/** Who may have how much of a fairly divided pool, and who is served next. Pure: `fair-share.ts` keeps the pool. */

/** What a member holds and wants. */
export interface Claimant {
  readonly held: number;
  readonly waiting: readonly { readonly amount: number }[];
  /** When it was last served, or arrived. Among members with equal holdings, the smallest is next. */
  readonly turn: number;
  /** Refused a moment ago although it was due this much. */
  readonly missed: { readonly amount: number } | null;
}

export interface PoolState {
  readonly size: number;
  /** Reserved for members that hold no more than this. */
  readonly reserve: number;
  readonly held: number;
  /** Active members, and recently active ones. */
  readonly members: number;
  /** Members that wait or are remembered. */
  readonly wanting: Iterable<Claimant>;
  /** Whether a member that takes more than it is due leaves room for those who may be back soon. */
  readonly keepsRoom: boolean;
}

/** The part of a pool that is reserved for recently active members. */
const RECENT_PART = 1 / 4;

/** Whether a member may have an amount now. */
export function mayHave(pool: PoolState, member: Claimant, amount: number): boolean {
  const { size, reserve, held } = pool;
  const reaches = member.held + amount <= reserve ? size : size - reserve;
  const isAlone = held === 0 && amount <= size;
  if (amount > reaches - held && !isAlone) return false;
  if (isDue(pool, member, amount)) return true;
  return !othersWant(pool, member) && amount <= reaches - held - roomForOthers(pool);
}

/** Whether an amount is within what a member is due: its part, and always its first amount. */
export function isDue({ size, reserve, members }: PoolState, member: Claimant, amount: number): boolean {
  return member.held === 0 || member.held + amount <= (size - reserve) / members;
}

/** What a member that has more than it is due leaves free. */
function roomForOthers({ size, members, keepsRoom }: PoolState): number {
  return keepsRoom ? Math.min(members - 1, Math.floor(size * RECENT_PART)) : 0;
}

function othersWant(pool: PoolState, member: Claimant): boolean {
  for (const other of pool.wanting) {
    if (other === member) continue;
    const amount = other.waiting[0]?.amount ?? other.missed?.amount;
    if (amount !== undefined && isDue(pool, other, amount)) return true;
  }
  return false;
}

/** The waiting member that holds the least. Among equals, the one that was not served for the longest time. */
export function nextInTurn<M extends Claimant>(wanting: Iterable<M>): M | undefined {
  let next: M | undefined;
  for (const member of wanting) {
    if (member.waiting.length === 0) continue;
    const isBefore =
      !next || member.held < next.held || (member.held === next.held && member.turn < next.turn);
    if (isBefore) next = member;
  }
  return next;
}
