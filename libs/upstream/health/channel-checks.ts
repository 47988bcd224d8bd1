import type { Channel } from '#catalog/catalog.js';
import type { Clock } from '#platform/clock.js';
import { Gauge, type Registry } from '#platform/metrics.js';
import type { KeyTrial } from './probe.js';

interface ChannelCheckOptions {
  clock: Clock;
  registry: Registry;
  channels: () => Promise<readonly Channel[]>;
  /** Sends the vendor behind a channel a free request, with each of its keys. Never throws. */
  probeKeys: (channel: Channel) => Promise<readonly KeyTrial[]>;
  /** When a call to a channel last succeeded, by the elapsed time. */
  lastServedMs: (channelId: string) => number | undefined;
  /** Called at each change, for the log. */
  onChange: (change: { channel: string; state: 'off' | 'on'; reason: string }) => void;
}

/** Successive checks that a channel has to fail. One may be a network glitch. */
const FAILURES_TO_SWITCH_OFF = 2;
const AT_ONCE = 8;

/**
 * Tests channels on a schedule, even those without calls. A failing channel is switched off before a caller notices,
 * and on again by its first successful test. A channel that serves calls is never switched off, whatever its tests say.
 * Kept in memory: each program finds out for itself.
 */
export class ChannelChecks {
  /** Checks that failed since the last success, and when the first did. */
  private readonly failing = new Map<string, { count: number; sinceMs: number }>();
  private readonly off = new Set<string>();

  constructor(private readonly options: ChannelCheckOptions) {
    const { off } = this;
    new Gauge({
      name: 'upstream_channels_switched_off',
      help: 'Channels that are switched off because their scheduled tests fail',
      registers: [options.registry],
      collect() {
        this.set(off.size);
      },
    });
  }

  isOff(channelId: string): boolean {
    return this.off.has(channelId);
  }

  /** Tests every channel once. */
  async round(): Promise<void> {
    const channels = (await this.options.channels()).filter(({ enabled }) => enabled);
    const known = new Set(channels.map(({ id }) => id));
    for (const id of [...this.off, ...this.failing.keys()]) if (!known.has(id)) this.forget(id);
    for (let at = 0; at < channels.length; at += AT_ONCE)
      await Promise.all(channels.slice(at, at + AT_ONCE).map((channel) => this.check(channel)));
  }

  private async check(channel: Channel): Promise<void> {
    const { id } = channel;
    const beganMs = this.options.clock.elapsedMs();
    const trials = await this.options.probeKeys(channel);
    if (!trials.every(isDown)) return this.passed(id);
    const { count, sinceMs } = this.failing.get(id) ?? { count: 0, sinceMs: beganMs };
    if ((this.options.lastServedMs(id) ?? -Infinity) >= sinceMs) return this.passed(id);
    this.failing.set(id, { count: count + 1, sinceMs });
    if (count + 1 < FAILURES_TO_SWITCH_OFF || this.off.has(id)) return;
    this.off.add(id);
    this.options.onChange({ channel: id, state: 'off', reason: trials[0]?.detail ?? 'it has no key' });
  }

  private passed(id: string): void {
    this.failing.delete(id);
    if (this.off.delete(id)) this.options.onChange({ channel: id, state: 'on', reason: 'it answers again' });
  }

  private forget(id: string): void {
    this.failing.delete(id);
    this.off.delete(id);
  }
}

/** Keys that may not list models may still make images, so a vendor's answer about a key proves nothing. */
function isDown({ verdict, status }: KeyTrial): boolean {
  return verdict === 'failed' && (status === null || status >= 500);
}
