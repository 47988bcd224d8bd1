import type { StatsFs } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { Gauge, type Registry } from '#platform/metrics.js';

/** Shows the space of the file system that a folder is on. */
export function measureSpace(registry: Registry, folder: string): void {
  const gauge = (name: string, help: string, blocksOf: (space: StatsFs) => number) =>
    new Gauge({
      name: `tollgate_storage_${name}_bytes`,
      help,
      registers: [registry],
      async collect() {
        // Metrics are readable while the folder is away.
        const space = await statfs(folder).catch(() => undefined);
        this.set(space ? blocksOf(space) * space.bsize : NaN);
      },
    });
  gauge('free', 'Space left for finished files.', ({ bavail }) => bavail);
  gauge('size', 'Size of the file system with the finished files.', ({ blocks }) => blocks);
}
