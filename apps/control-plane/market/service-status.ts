import type pg from 'pg';
import type { ProgramReader } from '#operations/program.reader.js';
import { type MarketReader, pricedModels } from '#marketplace/price-list.js';
import type { Clock } from '#platform/clock.js';
import { readRecords } from '#usage/model-days.js';

const KEPT_MS = 30_000;

type Status = Awaited<ReturnType<typeof read>>;

interface StatusParts {
  pool: pg.Pool;
  clock: Clock;
  market: MarketReader;
  programs: ProgramReader;
}

/** The public state of the service. It is read once every half minute, however many people ask. */
export class ServiceStatus {
  private known: { atMs: number; status: Promise<Status> } | undefined;

  constructor(private readonly parts: StatusParts) {}

  async now(): Promise<Status> {
    const nowMs = this.parts.clock.elapsedMs();
    if (this.known && nowMs - this.known.atMs < KEPT_MS) return this.known.status;
    const asked = { atMs: nowMs, status: read(this.parts) };
    this.known = asked;
    asked.status.catch(() => {
      if (this.known === asked) this.known = undefined;
    });
    return asked.status;
  }
}

async function read({ pool, market, programs }: StatusParts) {
  const [offered, isAnswering] = await Promise.all([
    market.readFor(null).then((seen) => pricedModels(seen, {})),
    programs.isRunning('gateway'),
  ]);
  const records = await readRecords(
    pool,
    offered.map(({ id, family }) => ({ id, part: family })),
  );
  return {
    isAnswering,
    families: [...records].map(([family, record]) => ({
      family,
      available: offered.some((model) => model.family === family && model.available),
      ...record,
    })),
  };
}
