import type { Channel } from '#catalog/catalog.js';
import type { ChannelHealth } from '#upstream/health/channel-health.js';

/** One slow channel must not take every place, or the tasks of all others would wait too. */
const CHANNEL_SHARE = 0.75;

/** The places of a worker for tasks that are being polled: a total limit, and one per channel. */
export class WorkPlaces {
  private readonly asking = new Map<string, number>();
  private readonly byAccount = new Map<string, number>();
  private taken = 0;

  constructor(
    private readonly most: number,
    private readonly health: ChannelHealth,
  ) {}

  get free(): number {
    return this.most - this.taken;
  }

  /** How many more tasks of each of these channels may be taken. Channels that can take none are left out. */
  freeOn(channels: readonly Channel[]): Map<string, number> {
    const share = Math.ceil(this.most * CHANNEL_SHARE);
    const free = channels.map((channel): [string, number] => {
      const borne = Math.min(share, this.health.allowance(channel));
      return [channel.id, borne - (this.asking.get(channel.id) ?? 0)];
    });
    return new Map(free.filter(([, count]) => count > 0));
  }

  /** How many places the tasks of each account use. */
  get ofAccounts(): ReadonlyMap<string, number> {
    return this.byAccount;
  }

  /** Takes a place. Returns a function that frees it, which may be called repeatedly. */
  take(task: { channelId: string | null; accountId: string }): () => void {
    this.add(task, 1);
    let isHeld = true;
    return () => {
      if (isHeld) this.add(task, -1);
      isHeld = false;
    };
  }

  private add(
    { channelId, accountId }: { channelId: string | null; accountId: string },
    count: number,
  ): void {
    this.taken += count;
    const id = channelId ?? '';
    this.asking.set(id, (this.asking.get(id) ?? 0) + count);
    const ofAccount = (this.byAccount.get(accountId) ?? 0) + count;
    if (ofAccount === 0) this.byAccount.delete(accountId);
    else this.byAccount.set(accountId, ofAccount);
  }
}
