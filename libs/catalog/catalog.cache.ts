import type { Clock } from '#platform/clock.js';
import type { Catalog } from './catalog.js';

/**
 * The catalog as a gateway or a worker sees it: loaded on first use, dropped by a catalog.changed event, and reloaded
 * after its time to live as the net under lost events. Stale prices do no harm: the hold decides.
 */
export class CatalogCache {
  private loading: Promise<Catalog> | undefined;
  private current: { catalog: Catalog; loadedMs: number } | undefined;
  private generation = 0;
  /** The database's time minus our elapsed time. Setting this machine's clock changes neither. */
  private offsetMs: number;

  constructor(
    private readonly read: () => Promise<Catalog>,
    private readonly clock: Clock,
    private readonly lifeMs: number,
  ) {
    this.offsetMs = clock.nowMs() - clock.elapsedMs();
  }

  /** The catalog, at most `lifeMs` old. @throws the database's error when it cannot be loaded at all. */
  async get(): Promise<Catalog> {
    if (this.current && this.clock.elapsedMs() - this.current.loadedMs < this.lifeMs)
      return this.current.catalog;
    this.loading ??= this.load(this.generation);
    return this.loading;
  }

  /**
   * The time of prices: the database's, as of when the catalog was last read. Ask for the catalog first. The time that reading
   * took counts as well, so it is rather ahead: a price that has just begun is not missed.
   */
  nowMs(): number {
    return this.databaseMs(this.clock.elapsedMs());
  }

  /** What the database's clock says at this elapsed time; milliseconds since 1970. */
  databaseMs(elapsedMs: number): number {
    return elapsedMs + this.offsetMs;
  }

  /** Drops a catalog that was read before this elapsed time. A read in progress is kept. */
  dropReadBefore(elapsedMs: number): void {
    if (this.current && this.current.loadedMs < elapsedMs) this.drop();
  }

  /** Forgets what is cached; a load in progress may have begun before the change, so its result is not kept either. */
  drop(): void {
    this.generation += 1;
    this.current = undefined;
    this.loading = undefined;
  }

  private async load(generation: number): Promise<Catalog> {
    const loadedMs = this.clock.elapsedMs();
    try {
      const catalog = await this.read();
      this.offsetMs = catalog.readAtMs - loadedMs;
      if (generation === this.generation) this.current = { catalog, loadedMs };
      return catalog;
    } finally {
      if (generation === this.generation) this.loading = undefined;
    }
  }
}
