import type { Channel } from '#catalog/catalog.js';
import type { Clock } from '#platform/clock.js';
import type { ProbeResult } from './probe.js';

export interface ProbeOptions {
  clock: Clock;
  /** How long an open breaker blocks calls before one of them may try. */
  openMs: number;
  /** Sends the vendor behind a channel a free request if only one account fails. Never throws. */
  probe: (channel: Channel) => Promise<Pick<ProbeResult, 'verdict'>>;
}

/** One account that fails repeatedly causes no more requests to the vendor than this. */
const PROBE_LIFE_MS = 1_000;

/** Whether the vendors behind channels are unhealthy, or only one account fails with them. */
export class VendorProbes {
  private readonly probes = new Map<string, { endsAtMs: number; isUnhealthy: Promise<boolean> }>();

  constructor(private readonly options: ProbeOptions) {}

  /** One probe for all models that ask about a channel at the same time. */
  isUnhealthy(channel: Channel): Promise<boolean> {
    const nowMs = this.options.clock.elapsedMs();
    let probe = this.probes.get(channel.id);
    if (!probe || probe.endsAtMs <= nowMs) {
      const isUnhealthy = this.options.probe(channel).then(
        ({ verdict }) => verdict === 'failed',
        () => true,
      );
      probe = { endsAtMs: nowMs + Math.min(PROBE_LIFE_MS, this.options.openMs), isUnhealthy };
      this.probes.set(channel.id, probe);
    }
    return probe.isUnhealthy;
  }
}
