import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client';
import { loopRecords } from './loop.js';

export { Counter, Gauge, Histogram, Registry } from 'prom-client';

/** A registry of one program, with the process's own metrics in it, those of its loops included. */
export function createRegistry(program: string): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ program });
  collectDefaultMetrics({ register: registry });
  measureLoops(registry);
  return registry;
}

function measureLoops(registry: Registry): void {
  const labelled = { labelNames: ['loop'] as const, registers: [registry] };
  new Counter({
    name: 'tollgate_loop_failures_total',
    help: 'Rounds of background loops that failed.',
    ...labelled,
    collect() {
      this.reset();
      for (const [loop, { failures }] of loopRecords) this.inc({ loop }, failures);
    },
  });
  new Gauge({
    name: 'tollgate_loop_last_success_timestamp_seconds',
    help: 'When a round of a background loop last ended well, or the loop began, Unix seconds.',
    ...labelled,
    collect() {
      for (const [loop, { lastSuccessAtMs }] of loopRecords) this.set({ loop }, lastSuccessAtMs / 1000);
    },
  });
}
