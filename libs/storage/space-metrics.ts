import type { StatsFs } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { Gauge, type Registry } from '#platform/metrics.js';

/** Reports the space of a folder's file system. */
export function measureSpace(registry: Registry, folder: string): void {
  const gauge = (name: string, help: string, blocksOf: (space: StatsFs) => number) =>
    new Gauge({
      name: `tollgate_storage_${name}_bytes`,
      help,
      registers: [registry],
      async collect() {
        // Metrics stay readable while the folder is missing.
        const space = await statfs(folder).catch(() => undefined);
        this.set(space ? blocksOf(space) * space.bsize : NaN);
      },
    });
  gauge('free', 'Space left for finished files.', ({ bavail }) => bavail);
  gauge('size', 'Size of the file system with the finished files.', ({ blocks }) => blocks);
}
