import type { FairShare } from '#platform/fair-share.js';
import { Counter, Gauge, type Registry } from '#platform/metrics.js';
import type { ChannelVitals } from './health/channel-vitals.js';

const STATES = { closed: 0, half_open: 1, open: 2 };

/** The measured values, read again each time someone asks for the metrics. */
interface Measured {
  vitalsOfAll(): readonly ChannelVitals[];
  placesOfAll(): ReadonlyMap<string, Pick<FairShare, 'taken' | 'waiting' | 'capacity'>>;
}

/** Reports the health of channels as metrics. The returned function counts openings. */
export function channelMetrics(registry: Registry, prefix: string, health: Measured): Counter {
  const registers = [registry];
  const labelNames = ['channel', 'model'];
  new Gauge({
    name: `${prefix}_state`,
    help: 'The breaker of a model on a channel: 0 closed, 1 half open (one call tries it), 2 open',
    labelNames,
    registers,
    collect() {
      for (const { channelId: channel, model, state } of health.vitalsOfAll())
        this.set({ channel, model: model ?? '' }, STATES[state]);
    },
  });
  measurePlaces(registry, prefix, health);
  return new Counter({
    name: `${prefix}_opened_total`,
    help: 'How often the breaker of a model on a channel opened',
    labelNames,
    registers,
  });
}

function measurePlaces(registry: Registry, prefix: string, health: Measured): void {
  const places = (name: string, help: string, what: 'taken' | 'waiting' | 'capacity') =>
    new Gauge({
      name: `${prefix}_${name}`,
      help,
      labelNames: ['channel'],
      registers: [registry],
      collect() {
        for (const [channel, pool] of health.placesOfAll()) this.set({ channel }, pool[what]);
      },
    });
  places('calls', 'Calls that hold a place on a channel now', 'taken');
  places('waiting', 'Calls that wait for a place on a channel now', 'waiting');
  places('places', 'Places of a channel in this program', 'capacity');
}
