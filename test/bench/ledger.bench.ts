import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { loadPriceBook } from '#catalog/catalog.store.js';
import { seedCatalog } from '#catalog/catalog.seed.js';
import { openPool } from '#database/database.js';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '#database/embedded-postgres.js';
import { migrate } from '#database/migrations.js';
import { prepareDatabase } from '#database/prepare-database.js';
import { databaseName, databaseUrlOf } from '#database/roles.js';
import { PostingEngine } from '#ledger/charges/posting-engine.js';
import { parseAmount } from '#money/amount.js';
import { createLogger } from '#platform/logging.js';
import { newId } from '#platform/ids.js';
import { cleanedUp } from './children.js';
import { openBenchAccounts, type BenchAccount } from './ledger-bench.accounts.js';
import { type HistoryResult, measureAccount, measureHistory } from './ledger-bench.history.js';
import { bulkInsertFloor, oneByOneFloor } from './ledger-bench.floors.js';
import { percentile, printTable } from './report.js';

/**
 * Holds per second through the posting engine beside two floors from the same run with the same durability. In all of
 * them, every hold writes the same rows: a charge, a ledger transaction, two entries, a balance, a key's spend.
 */
export interface LedgerBenchOptions {
  /** Seconds per measurement. */
  seconds: number;
  /** Entries in the ledger for the second run; 0 skips it. */
  historyEntries: number;
  /** Entries of one account with limits, for the third run; 0 skips it. */
  accountEntries: number;
  json: boolean;
}

export interface Measurement {
  what: string;
  inFlight: number;
  perSecond: number;
  p50Ms: number | null;
  p99Ms: number | null;
}

const IN_FLIGHT = [1, 16, 256, 1024];
const MANY_ACCOUNTS = 1000;

export async function benchLedger(options: LedgerBenchOptions): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'tollgate-bench-'));
  const log = createLogger('bench', 'warn');
  const server = await startEmbeddedPostgres({ dataDir, log });
  const cleanUp = async () => {
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
  // The server is a separate process group and would outlive a Ctrl-C.
  await cleanedUp(cleanUp, async () => {
    const ledger = await openLedger(server, databaseName);
    const results = await measureAll(ledger, options).finally(() => ledger.close());
    const { seconds, historyEntries, accountEntries } = options;
    const histories = [
      ...(historyEntries > 0 ? [await measureHistory(server, seconds, historyEntries)] : []),
      ...(accountEntries > 0 ? [await measureAccount(server, seconds, accountEntries)] : []),
    ];
    report({ results, histories }, options);
  });
}

export interface Ledger {
  owner: pg.Pool;
  billing: pg.Pool;
  engine: PostingEngine;
  accounts: BenchAccount[];
  close(): Promise<void>;
}

/** A separate ledger on the server, with customers who can pay. */
export async function openLedger(
  server: EmbeddedPostgres,
  database: string,
  customers = MANY_ACCOUNTS,
): Promise<Ledger> {
  if (database !== databaseName) await createDatabase(server, database);
  const url = (role: 'owner' | 'billing') => databaseUrlOf(server.urlFor(role), database);
  await migrate({ ownerUrl: url('owner') });
  const owner = openPool({ url: url('owner'), max: 4, applicationName: 'bench' });
  const billing = openPool({ url: url('billing'), max: 4, applicationName: 'bench' });
  await seedCatalog(owner);
  const accounts = await openBenchAccounts(billing, customers);
  const engine = new PostingEngine({ pool: billing, loadPriceBook, log: createLogger('bench', 'warn') });
  const close = async () => {
    await engine.close();
    await Promise.all([owner.end(), billing.end()]);
  };
  return { owner, billing, engine, accounts, close };
}

function createDatabase(server: EmbeddedPostgres, database: string): Promise<void> {
  const passwords = { owner: server.passwordFor('owner') };
  return prepareDatabase({ adminUrl: server.urlFor('admin'), database, passwords });
}

async function measureAll(ledger: Ledger, options: LedgerBenchOptions): Promise<Measurement[]> {
  const { billing, engine, accounts: many } = ledger;
  const one = many.slice(0, 1);
  const milliseconds = options.seconds * 1000;
  const results: Measurement[] = [];
  const add = (measurement: Measurement) => results.push(reported(measurement));

  await measureEngine(engine, many, { inFlight: 64, milliseconds: 1000 });
  add({
    what: 'floor: one transaction per charge',
    inFlight: 1,
    ...(await oneByOneFloor(billing, many, { milliseconds })),
  });
  add({
    what: 'floor: bulk insert',
    inFlight: 1,
    p50Ms: null,
    p99Ms: null,
    perSecond: await bulkInsertFloor(billing, many, milliseconds),
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
  return results;
}

export function reported(measurement: Measurement): Measurement {
  const { what, inFlight, perSecond } = measurement;
  process.stderr.write(`${what}, ${inFlight} in flight: ${Math.round(perSecond)}/s\n`);
  return measurement;
}

/** Keeps a number of holds in flight for a while. */
export async function measureEngine(
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

interface Found {
  results: Measurement[];
  histories: HistoryResult[];
}

function report({ results, histories }: Found, options: LedgerBenchOptions): void {
  const find = (what: string, inFlight: number) =>
    results.find((item) => item.what === what && item.inFlight === inFlight)?.perSecond ?? 0;
  const best = find('engine, many accounts', 1024);
  const oneByOne = find('floor: one transaction per charge', 1);
  const ratios = {
    timesOneByOneAt16: find('engine, many accounts', 16) / oneByOne,
    timesOneByOne: best / oneByOne,
    partOfBulkInsert: best / find('floor: bulk insert', 1),
    partsOfEmpty: Object.fromEntries(histories.map(({ past, ratio }) => [past.what, ratio])),
  };
  const all = [...results, ...histories.flatMap(({ empty, past }) => [empty, past])];
  if (options.json) {
    process.stdout.write(`${JSON.stringify({ bench: 'ledger', results: all, ratios })}\n`);
    return;
  }
  printTable(
    ['holds', 'in flight', 'per second', 'p50 ms', 'p99 ms'],
    all.map((item) => [
      item.what,
      String(item.inFlight),
      Math.round(item.perSecond).toString(),
      item.p50Ms?.toFixed(2) ?? '-',
      item.p99Ms?.toFixed(2) ?? '-',
    ]),
  );
  process.stdout.write(
    `At 16 in flight: ${ratios.timesOneByOneAt16.toFixed(1)} times the one-by-one floor (aim 14). At 1024: ${ratios.timesOneByOne.toFixed(1)} times, ${ratios.partOfBulkInsert.toFixed(2)} of the bulk insert (aim 0.8).\n`,
  );
  for (const { past, ratio } of histories)
    process.stdout.write(`${past.what}: ${ratio.toFixed(2)} of the same without (aim 0.9).\n`);
}
