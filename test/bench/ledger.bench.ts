import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { loadPriceBook } from '#catalog/catalog.store.js';
import { seedCatalog } from '#catalog/catalog.seed.js';
import { openPool } from '#database/database.js';
import { startEmbeddedPostgres } from '#database/embedded-postgres.js';
import { migrate } from '#database/migrations.js';
import { PostingEngine } from '#ledger/posting-engine.js';
import { parseAmount } from '#money/amount.js';
import { createLogger } from '#platform/logging.js';
import { newId } from '#platform/ids.js';
import { growHistory, openBenchAccounts, type BenchAccount } from './ledger-bench.accounts.js';
import { bulkInsertFloor, oneByOneFloor } from './ledger-bench.floors.js';
import { percentile, printTable } from './report.js';

/**
 * Holds per second through the posting engine beside two floors of the same run with the same durability. Every hold
 * writes the same rows in all of them: a charge, a ledger transaction, two entries, a balance, a key's spend.
 */
export interface LedgerBenchOptions {
  /** Seconds for each measurement. */
  seconds: number;
  /** Entries to have in the ledger for the second run; 0 leaves it out. */
  historyEntries: number;
  json: boolean;
}

interface Measurement {
  what: string;
  inFlight: number;
  perSecond: number;
  p50Ms: number | null;
  p99Ms: number | null;
}

const IN_FLIGHT = [1, 16, 256, 1024];
const MANY_ACCOUNTS = 1000;
const HISTORY_IN_FLIGHT = 256;

export async function benchLedger(options: LedgerBenchOptions): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'tollgate-bench-'));
  const log = createLogger('bench', 'warn');
  const server = await startEmbeddedPostgres({ dataDir, log });
  try {
    const passwords = { billing: server.passwordFor('billing') };
    await migrate({ ownerUrl: server.ownerUrl, passwords });
    const owner = openPool({ url: server.ownerUrl, max: 4, applicationName: 'bench' });
    const billing = openPool({ url: server.urlFor('billing'), max: 4, applicationName: 'bench' });
    try {
      await seedCatalog(owner);
      report(await measureAll({ owner, billing }, options), options);
    } finally {
      await Promise.all([owner.end(), billing.end()]);
    }
  } finally {
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function measureAll(
  pools: { owner: pg.Pool; billing: pg.Pool },
  options: LedgerBenchOptions,
): Promise<Measurement[]> {
  const engine = new PostingEngine({
    pool: pools.billing,
    loadPriceBook,
    log: createLogger('bench', 'warn'),
  });
  const many = await openBenchAccounts(pools.billing, MANY_ACCOUNTS);
  const one = many.slice(0, 1);
  const milliseconds = options.seconds * 1000;
  const results: Measurement[] = [];
  const add = (measurement: Measurement) => {
    results.push(measurement);
    process.stderr.write(
      `${measurement.what}, ${measurement.inFlight} in flight: ${Math.round(measurement.perSecond)}/s\n`,
    );
  };

  await measureEngine(engine, many, { inFlight: 64, milliseconds: 1000 });
  add({
    what: 'floor: one transaction per charge',
    inFlight: 1,
    ...(await oneByOneFloor(pools.billing, many, milliseconds)),
  });
  add({
    what: 'floor: bulk insert',
    inFlight: 1,
    p50Ms: null,
    p99Ms: null,
    perSecond: await bulkInsertFloor(pools.billing, many, milliseconds),
  });
  for (const inFlight of IN_FLIGHT) {
    add({
      what: 'engine, many accounts',
      inFlight,
      ...(await measureEngine(engine, many, { inFlight, milliseconds })),
    });
  }
  for (const inFlight of IN_FLIGHT) {
    add({
      what: 'engine, one account',
      inFlight,
      ...(await measureEngine(engine, one, { inFlight, milliseconds })),
    });
  }
  if (options.historyEntries > 0) {
    const empty = await measureEngine(engine, many, { inFlight: HISTORY_IN_FLIGHT, milliseconds });
    add({ what: 'engine, before the history', inFlight: HISTORY_IN_FLIGHT, ...empty });
    await growHistory(pools.owner, options.historyEntries);
    await measureEngine(engine, many, { inFlight: HISTORY_IN_FLIGHT, milliseconds: 2000 });
    const full = await measureEngine(engine, many, { inFlight: HISTORY_IN_FLIGHT, milliseconds });
    add({
      what: `engine, with ${options.historyEntries / 1e6} million entries`,
      inFlight: HISTORY_IN_FLIGHT,
      ...full,
    });
  }
  await engine.close();
  return results;
}

/** Keeps a number of holds in flight for a time. */
async function measureEngine(
  engine: PostingEngine,
  accounts: BenchAccount[],
  load: { inFlight: number; milliseconds: number },
): Promise<Omit<Measurement, 'what' | 'inFlight'>> {
  const latencies: number[] = [];
  const quotedAmount = parseAmount('0.03');
  let next = 0;
  const startedMs = performance.now();
  const endMs = startedMs + load.milliseconds;
  const client = async (): Promise<void> => {
    while (performance.now() < endMs) {
      const account = accounts[next++ % accounts.length] as BenchAccount;
      const askedMs = performance.now();
      const result = await engine.hold({
        chargeId: newId(),
        ...account,
        model: 'imgmodel-4',
        requestedModel: 'imgmodel-4',
        group: 'Vendora-Main',
        units: 1n,
        quotedAmount,
        expiresAtMs: Date.now() + 60_000,
        deadlineMs: Date.now() + 600_000,
        taskId: null,
        requestId: 'bench',
      });
      if (result.outcome !== 'held') throw new Error(`a hold of the bench was refused: ${result.code}`);
      latencies.push(performance.now() - askedMs);
    }
  };
  await Promise.all(Array.from({ length: load.inFlight }, client));
  const elapsedSeconds = (performance.now() - startedMs) / 1000;
  return {
    perSecond: latencies.length / elapsedSeconds,
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
  };
}

function report(results: Measurement[], options: LedgerBenchOptions): void {
  const find = (what: string, inFlight: number) =>
    results.find((item) => item.what === what && item.inFlight === inFlight)?.perSecond ?? 0;
  const best = find('engine, many accounts', 1024);
  const ratios = {
    timesOneByOne: best / find('floor: one transaction per charge', 1),
    partOfBulkInsert: best / find('floor: bulk insert', 1),
  };
  if (options.json) {
    process.stdout.write(`${JSON.stringify({ bench: 'ledger', results, ratios })}\n`);
    return;
  }
  printTable(
    ['holds', 'in flight', 'per second', 'p50 ms', 'p99 ms'],
    results.map((item) => [
      item.what,
      String(item.inFlight),
      Math.round(item.perSecond).toString(),
      item.p50Ms?.toFixed(2) ?? '-',
      item.p99Ms?.toFixed(2) ?? '-',
    ]),
  );
  process.stdout.write(
    `At 1024 in flight: ${ratios.timesOneByOne.toFixed(1)} times the one-by-one floor (aim 10), ${ratios.partOfBulkInsert.toFixed(2)} of the bulk insert (aim 0.33).\n`,
  );
}
