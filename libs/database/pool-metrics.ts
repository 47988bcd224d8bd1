import type pg from 'pg';
import { Gauge, type Registry } from '#platform/metrics.js';

const poolsOf = new WeakMap<Registry, pg.Pool[]>();

/** Reports how full a pool is as metrics. Programs that share a registry report all of theirs. */
export function measurePool(registry: Registry, pool: pg.Pool): void {
  const known = poolsOf.get(registry);
  if (known) {
    known.push(pool);
    return;
  }
  const pools = [pool];
  poolsOf.set(registry, pools);
  const gauge = (name: string, help: string, of: (pool: pg.Pool) => number) =>
    new Gauge({
      name: `database_connections_${name}`,
      help,
      labelNames: ['pool'],
      registers: [registry],
      collect() {
        for (const each of pools) this.set({ pool: each.options.application_name ?? '' }, of(each));
      },
    });
  gauge('used', 'Database connections in use now.', ({ totalCount, idleCount }) => totalCount - idleCount);
  gauge('waiting', 'Work that waits for a database connection now.', ({ waitingCount }) => waitingCount);
  gauge('limit', 'The most database connections of a pool.', ({ options }) => options.max ?? 0);
}
