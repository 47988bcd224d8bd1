import { type Channel, keyMark } from '#catalog/catalog.js';
import { type Clock, systemClock } from '#platform/clock.js';
import { retryAfterMs } from './retry-after.js';

/** A vendor's answer, as far as the key is concerned. */
interface KeyAnswer {
  status: number;
  retryAfter: string | undefined;
}

/** For a vendor that is busy and does not say for how long. */
const BUSY_MS = 10_000;
/** For a wrong key, or one without balance, which a person has to fix. */
const REFUSED_MS = 60_000;
const LONGEST_MS = 10 * 60_000;

/**
 * The channel keys that their vendor refused. Each pauses for as long as the vendor says, while the channel's other
 * keys continue. Known only to this process. A channel with one key has no other to use.
 */
export class KeyRests {
  private readonly until = new Map<string, number>();

  constructor(private readonly clock: Clock = systemClock) {}

  note(channel: Channel, { status, retryAfter }: KeyAnswer): void {
    if (channel.apiKeys.length < 2) return;
    const nowMs = this.clock.elapsedMs();
    for (const [key, endsAtMs] of this.until) if (endsAtMs <= nowMs) this.until.delete(key);
    const restMs = restOf(status, retryAfter, this.clock.nowMs());
    if (restMs > 0) this.until.set(nameOf(channel), nowMs + Math.min(restMs, LONGEST_MS));
  }

  /** The channel with a random key that is not paused. If all are, with the one whose pause ends first. */
  withRested(channel: Channel): Channel {
    if (this.until.size === 0 || channel.apiKeys.length < 2) return channel;
    const nowMs = this.clock.elapsedMs();
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

/** 0 if the answer says nothing against the key. */
function restOf(status: number, retryAfter: string | undefined, nowMs: number): number {
  if (status === 401 || status === 402) return REFUSED_MS;
  if (status !== 429) return 0;
  return retryAfterMs(retryAfter, nowMs) ?? BUSY_MS;
}
