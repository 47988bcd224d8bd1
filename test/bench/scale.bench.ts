import { mkdir, mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { configureSandboxChannel } from '#catalog/catalog.seed.js';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '#database/embedded-postgres.js';
import { checkLedger } from '#ledger/checks/ledger-check.js';
import { buildSnapshots } from '#ledger/reports/balance-snapshots.fixture.js';
import { OperatorError } from '#platform/errors.js';
import { createLogger } from '#platform/logging.js';
import { checkpoint, openAdminPool } from './checkpoint.js';
import { writeBooks } from './finance-bench.books.js';
import { openLedger } from './ledger.bench.js';
import { percentile, printTable } from './report.js';
import { closeStage, measureStage, openStage, type Sample, type Stage } from './scale-bench.stage.js';

/**
 * What a ledger costs as it grows: postings, a month's report, the checks of recent work and VACUUM, on a new ledger,
 * with a month of history, and with ten months of history, where every month has a tenth of the entries.
 */
export interface ScaleBenchOptions {
  /** Entries of the largest ledger. */
  entries: number;
  accounts: number;
  /** Seconds of postings per round. */
  seconds: number;
  /** Odd, so that there is a median. */
  rounds: number;
  /** The folder that keeps the ledgers for later runs. If omitted, they are discarded. */
  keep?: string;
  json: boolean;
}

type StageName = 'new' | 'tenth' | 'whole';
type Medians = Record<StageName, Sample>;

const DAYS: Record<StageName, number> = { new: 1, tenth: 30, whole: 300 };
/** A new ledger has customers with their top-ups, and hardly any charges. */
const ENTRIES_OF_NEW = 6;
/** What a load leaves on disk, including what it needs while running. */
const BYTES_PER_ENTRY = 480;
const BYTES_BESIDE = 4e9;
/**
 * A server for the ledger alone, on the machine described in docs/performance.md. It only vacuums when told to, and
 * that is measured.
 */
const SETTINGS = { shared_buffers: '2GB', maintenance_work_mem: '512MB', autovacuum: 'off' };
/** A killed load starts over. */
const LOAD_SETTINGS = { ...SETTINGS, fsync: 'off', full_page_writes: 'off', max_wal_size: '4GB' };
const GRACE_MS = 60_000;

/** Runs the benchmark and prints the results. Sets the exit code if the books are not sound afterwards. */
export async function benchScale(options: ScaleBenchOptions): Promise<void> {
  const dataDir = options.keep ? resolve(options.keep) : await mkdtemp(join(tmpdir(), 'tollgate-bench-'));
  await mkdir(dataDir, { recursive: true });
  const cleanUp = async () => {
    if (!options.keep) await rm(dataDir, { recursive: true, force: true });
  };
  try {
    await refuseSmallDisk(dataDir, options.entries);
    const place = { dataDir, cleanUp };
    const loadSeconds = await onServer(place, LOAD_SETTINGS, (server) => load(server, options));
    const medians = await onServer(place, SETTINGS, (server) => measure(server, options));
    report({ options, loadSeconds, medians });
  } finally {
    await cleanUp();
  }
}

interface Place {
  dataDir: string;
  cleanUp: () => Promise<void>;
}

/** A separate server for `work`. Ctrl-C stops it too, although it is a separate process group. */
async function onServer<T>(
  { dataDir, cleanUp }: Place,
  settings: Record<string, string>,
  work: (server: EmbeddedPostgres) => Promise<T>,
): Promise<T> {
  const server = await startEmbeddedPostgres({ dataDir, settings, log: createLogger('bench', 'warn') });
  const interrupted = (): void =>
    void server
      .stop()
      .then(cleanUp)
      .finally(() => process.exit(130));
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted);
  try {
    return await work(server);
  } finally {
    process.off('SIGINT', interrupted).off('SIGTERM', interrupted);
    await server.stop();
  }
}

async function refuseSmallDisk(folder: string, entries: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const needed = entries * 1.1 * BYTES_PER_ENTRY + BYTES_BESIDE;
  if (bavail * bsize > needed) return;
  const gigabytes = Math.ceil(needed / 1e9);
  throw new OperatorError(`${entries} entries need ${gigabytes} GB in ${folder}: lower --entries.`);
}

function sizesOf({ entries, accounts }: ScaleBenchOptions): Record<StageName, number> {
  return { new: accounts * ENTRIES_OF_NEW, tenth: Math.ceil(entries / 10), whole: entries };
}

function databaseOf(stage: StageName, { entries, accounts }: ScaleBenchOptions): string {
  return `scale_${stage}_${entries}_${accounts}`;
}

/** Writes the missing ledgers. @returns seconds for each that was written */
async function load(
  server: EmbeddedPostgres,
  options: ScaleBenchOptions,
): Promise<Partial<Record<StageName, number>>> {
  const seconds: Partial<Record<StageName, number>> = {};
  const admin = openAdminPool(server, 'postgres');
  try {
    for (const stage of ['new', 'tenth', 'whole'] as const) {
      const database = databaseOf(stage, options);
      const { rowCount } = await admin.query('SELECT FROM pg_database WHERE datname = $1', [database]);
      if (rowCount) continue;
      await admin.query('DROP DATABASE IF EXISTS unfinished');
      const startedMs = performance.now();
      await write(server, sizesOf(options)[stage], { accounts: options.accounts, days: DAYS[stage] });
      await admin.query(`ALTER DATABASE unfinished RENAME TO ${database}`);
      seconds[stage] = (performance.now() - startedMs) / 1000;
    }
  } finally {
    await admin.end();
  }
  await checkpoint(server);
  return seconds;
}

async function write(
  server: EmbeddedPostgres,
  entries: number,
  size: { accounts: number; days: number },
): Promise<void> {
  const ledger = await openLedger(server, 'unfinished', 0);
  try {
    await configureSandboxChannel(ledger.owner, { baseUrl: 'http://127.0.0.1:9', apiKey: 'bench' });
    await writeBooks(ledger.owner, { entries, accounts: size.accounts, days: size.days });
    await buildSnapshots(ledger.billing);
  } finally {
    await ledger.close();
  }
}

/** In turns, so that a busy moment of the machine affects all three. The median of each figure counts. */
async function measure(server: EmbeddedPostgres, options: ScaleBenchOptions): Promise<Medians> {
  const stages = {
    new: await openStage(server, databaseOf('new', options)),
    tenth: await openStage(server, databaseOf('tenth', options)),
    whole: await openStage(server, databaseOf('whole', options)),
  };
  try {
    const samples: Record<StageName, Sample[]> = { new: [], tenth: [], whole: [] };
    for (let round = 0; round <= options.rounds; round += 1)
      for (const [name, stage] of Object.entries(stages) as [StageName, Stage][]) {
        const sample = await measureStage(stage, options.seconds);
        process.stderr.write(`${name}, round ${round}: ${JSON.stringify(sample)}\n`);
        // The first round is for warming up.
        if (round > 0) samples[name].push(sample);
      }
    await check(stages.tenth);
    return {
      new: medianOf(samples.new),
      tenth: medianOf(samples.tenth),
      whole: medianOf(samples.whole),
    };
  } finally {
    for (const stage of Object.values(stages)) await closeStage(stage);
  }
}

/** The whole check, if it does not take long. */
async function check({ admin }: Stage): Promise<void> {
  process.stderr.write('checking the ledger of a month\n');
  const { ok, violations } = await checkLedger(admin, { graceMs: GRACE_MS });
  if (ok) return;
  process.exitCode = 1;
  process.stderr.write(`${JSON.stringify(violations)}\n`);
}

function medianOf(samples: Sample[]): Sample {
  const of = (name: keyof Sample) =>
    percentile(
      samples.map((sample) => sample[name]),
      0.5,
    );
  return {
    postingsPerSecond: of('postingsPerSecond'),
    logPerPosting: of('logPerPosting'),
    vacuumMsPerThousand: of('vacuumMsPerThousand'),
    monthReportMs: of('monthReportMs'),
    recentChecksMs: of('recentChecksMs'),
  };
}

const WORDS: Record<keyof Sample, string> = {
  postingsPerSecond: 'postings per second',
  logPerPosting: 'log of a posting, bytes',
  vacuumMsPerThousand: 'VACUUM, ms for 1,000 postings',
  monthReportMs: 'report of a month, ms',
  recentChecksMs: 'checks of the last hour, ms',
};

function report(found: {
  options: ScaleBenchOptions;
  loadSeconds: Partial<Record<StageName, number>>;
  medians: Medians;
}): void {
  const { options, medians } = found;
  const names = Object.keys(WORDS) as (keyof Sample)[];
  const ratios = Object.fromEntries(
    names.map((name) => [
      name,
      {
        ofTenth: medians.whole[name] / medians.tenth[name],
        ofNew: medians.whole[name] / medians.new[name],
      },
    ]),
  ) as Record<keyof Sample, { ofTenth: number; ofNew: number }>;
  if (options.json)
    return void process.stdout.write(`${JSON.stringify({ bench: 'scale', ...found, ratios })}\n`);
  const sizes = sizesOf(options);
  const millions = (stage: StageName) => `${+(sizes[stage] / 1e6).toPrecision(2)} M`;
  printTable(
    ['entries', millions('new'), millions('tenth'), millions('whole'), 'whole / tenth', 'whole / new'],
    names.map((name) => [
      WORDS[name],
      ...(['new', 'tenth', 'whole'] as const).map((stage) =>
        (+medians[stage][name].toPrecision(3)).toString(),
      ),
      ratios[name].ofTenth.toFixed(2),
      ratios[name].ofNew.toFixed(2),
    ]),
  );
}
