import { type Channel, keyMark } from '#catalog/catalog.js';
import { type Clock, systemClock } from '#platform/clock.js';
import { retryAfterMs } from './retry-after.js';

/** What a vendor answered to a key, as far as the key is concerned. */
interface KeyAnswer {
  status: number;
  retryAfter: string | undefined;
}

/** A vendor that is busy and does not say for how long. */
const BUSY_MS = 10_000;
/** A key that is wrong, or whose money is spent: it takes a person to mend that. */
const REFUSED_MS = 60_000;
const LONGEST_MS = 10 * 60_000;

/**
 * The keys of channels that their vendor turned away: each rests for as long as the vendor says, while the others of its
 * channel carry on. Known to this process alone. A channel with one key has no other to take.
 */
export class KeyRests {
  private readonly until = new Map<string, number>();

  constructor(private readonly clock: Clock = systemClock) {}

  /** Takes in an answer to the key of a channel. */
  note(channel: Channel, { status, retryAfter }: KeyAnswer): void {
    if (channel.apiKeys.length < 2) return;
    const nowMs = this.clock.nowMs();
    for (const [key, endsAtMs] of this.until) if (endsAtMs <= nowMs) this.until.delete(key);
    const restMs = restOf(status, retryAfter, nowMs);
    if (restMs > 0) this.until.set(nameOf(channel), nowMs + Math.min(restMs, LONGEST_MS));
  }

  /** The channel with a key that does not rest, by chance; where all do, with the one whose rest ends first. */
  withRested(channel: Channel): Channel {
    if (this.until.size === 0 || channel.apiKeys.length < 2) return channel;
    const nowMs = this.clock.nowMs();
    const endOf = (each: Channel) => Math.max(nowMs, this.until.get(nameOf(each)) ?? nowMs);
    if (endOf(channel) === nowMs) return channel;
    const options = channel.apiKeys.map((apiKey) => ({ ...channel, apiKey }));
    const first = Math.min(...options.map(endOf));
    const rested = options.filter((each) => endOf(each) === first);
    return rested[Math.floor(Math.random() * rested.length)] ?? channel;
  }
}

function nameOf(channel: Channel): string {
  return `${channel.id} ${keyMark(channel)}`;
}

/** 0 for an answer that says nothing against the key. */
function restOf(status: number, retryAfter: string | undefined, nowMs: number): number {
  if (status === 401 || status === 402) return REFUSED_MS;
  if (status !== 429) return 0;
  return retryAfterMs(retryAfter, nowMs) ?? BUSY_MS;
}
