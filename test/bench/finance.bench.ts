import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type pg from 'pg';
import { configureSandboxChannel } from '#catalog/catalog.seed.js';
import { openPool } from '#database/database.js';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '#database/embedded-postgres.js';
import { migrate } from '#database/migrations.js';
import { closeDatabase } from '#database/prepare-database.js';
import { databaseUrlOf } from '#database/roles.js';
import { checkLedger } from '#ledger/checks/ledger-check.js';
import { createLogger } from '#platform/logging.js';
import { cleanedUp } from './children.js';
import { checkpoint, openAdminPool } from './checkpoint.js';
import { writeBooks } from './finance-bench.books.js';
import {
  measureChain,
  measureExports,
  measureFloors,
  measureLoops,
  measureSnapshots,
  measureStatements,
  measureTrialBalances,
} from './finance-bench.measures.js';
import { measurePosting, POSTING_DATABASES } from './finance-bench.posting.js';
import { openLedger } from './ledger.bench.js';
import { printTable } from './report.js';

/** The finance service on a ledger with many entries: each figure beside its target, with floors from the same run. */
export interface FinanceBenchOptions {
  entries: number;
  accounts: number;
  /** Seconds per measurement of posting. */
  seconds: number;
  /** The folder that keeps the generated books for later runs. If omitted, they are discarded. */
  keep?: string;
  json: boolean;
}

export interface Figure {
  what: string;
  value: number;
  unit: 's' | 'ms' | '/s' | 'MB' | 'ratio' | 'nodes' | 'listeners';
  /** Null if there is no target and the figure is for comparison. */
  aim: { atMost: number } | { atLeast: number } | null;
  note: string;
}

const DAYS = 30;
/** The server's databases: the one that is measured, and the one that is generated and kept. */
const BOOKS = 'books';
const UNFINISHED = 'unfinished';
const CHECK_GRACE_MS = 60_000;

/** Runs the benchmark and prints the results. Sets the exit code if the generator's books are not sound. */
export async function benchFinance(options: FinanceBenchOptions): Promise<void> {
  const { keep } = options;
  const dataDir = keep ? resolve(keep) : await mkdtemp(join(tmpdir(), 'tollgate-bench-'));
  await mkdir(dataDir, { recursive: true });
  const server = await startEmbeddedPostgres({ dataDir, log: createLogger('bench', 'warn') });
  const cleanUp = async () => {
    await server.stop();
    if (!keep) await rm(dataDir, { recursive: true, force: true });
  };
  // The server is a separate process group and would outlive a Ctrl-C.
  await cleanedUp(cleanUp, async () => {
    const figures = [
      ...(await measureBooks(server, options)),
      ...(await measurePosting(server, options.seconds)),
    ];
    if (options.json) process.stdout.write(`${JSON.stringify({ options, figures })}\n`);
    else printTable(['what', 'measured', 'aim', ''], figures.map(rowOf));
  });
}

async function measureBooks(server: EmbeddedPostgres, options: FinanceBenchOptions): Promise<Figure[]> {
  const written = await prepareBooks(server, options);
  const billing = openPool({
    url: databaseUrlOf(server.urlFor('billing'), BOOKS),
    max: 4,
    applicationName: 'bench',
    statementTimeoutMs: 0,
  });
  try {
    const { rows } = await billing.query<{ entries: bigint }>(
      'SELECT count(*) AS entries FROM ledger_entries',
    );
    const entries = Number(rows[0]?.entries);
    const figures = written === null ? [] : [told(written)];
    process.stderr.write(`${entries} entries\n`);
    for (const measure of [
      measureFloors,
      measureSnapshots,
      measureChain,
      measureTrialBalances,
      measureStatements,
      measureExports,
      measureLoops,
    ])
      figures.push(...(await measure(billing, entries)).map(told));
    await checkBooks(billing);
    return figures;
  } finally {
    await billing.end();
  }
}

/**
 * Puts the generator's books into the database that is measured, which changes them. If books are kept, it gets a copy
 * of what an earlier run of the same size generated. Returns how long generating took, or null.
 */
async function prepareBooks(server: EmbeddedPostgres, options: FinanceBenchOptions): Promise<Figure | null> {
  if (!options.keep) return generate(server, BOOKS, options);
  const owner = openAdminPool(server, 'postgres');
  try {
    const kept = `kept_${options.entries}_${options.accounts}`;
    for (const leftOver of [BOOKS, UNFINISHED, ...POSTING_DATABASES])
      await owner.query(`DROP DATABASE IF EXISTS ${leftOver}`);
    const { rowCount } = await owner.query('SELECT FROM pg_database WHERE datname = $1', [kept]);
    const figure = rowCount === 0 ? await generate(server, UNFINISHED, options) : null;
    if (figure) await owner.query(`ALTER DATABASE ${UNFINISHED} RENAME TO ${kept}`);
    await owner.query(`CREATE DATABASE ${BOOKS} OWNER tollgate_owner TEMPLATE ${kept} STRATEGY file_copy`);
    await closeDatabase(owner, BOOKS);
    await migrate({ ownerUrl: databaseUrlOf(server.ownerUrl, BOOKS) });
    return figure;
  } finally {
    await owner.end();
  }
}

async function generate(
  server: EmbeddedPostgres,
  database: string,
  options: FinanceBenchOptions,
): Promise<Figure> {
  const ledger = await openLedger(server, database, 0);
  try {
    await configureSandboxChannel(ledger.owner, { baseUrl: 'http://127.0.0.1:9', apiKey: 'bench' });
    await ledger.owner.query(
      `INSERT INTO upstream_cost_versions (channel_id, model_id, unit_cost, actor, reason, request_id)
       SELECT channel_id, model_id, 0.01, 'bench', 'bench', model_id FROM channel_models`,
    );
    const startedMs = performance.now();
    const entries = await writeBooks(ledger.owner, { ...options, days: DAYS });
    await checkpoint(server);
    const seconds = (performance.now() - startedMs) / 1000;
    return { what: 'writing the books', value: seconds, unit: 's', aim: null, note: `${entries} entries` };
  } finally {
    await ledger.close();
  }
}

/** By then, the books also contain what the service's loops wrote. */
async function checkBooks(billing: pg.Pool): Promise<void> {
  process.stderr.write('checking the ledger\n');
  const { ok, violations } = await checkLedger(billing, { graceMs: CHECK_GRACE_MS });
  if (ok) return;
  process.exitCode = 1;
  for (const { invariant, message, rows } of violations)
    process.stderr.write(`invariant ${invariant}: ${message}: ${JSON.stringify(rows[0])}\n`);
}

export function told(figure: Figure): Figure {
  const [what, value, aim, note] = rowOf(figure);
  process.stderr.write(`${what}: ${value}${aim ? ` (aim ${aim})` : ''}${note ? `, ${note}` : ''}\n`);
  return figure;
}

/** The figure as a row of the table. */
export function rowOf({ what, value, unit, aim, note }: Figure): string[] {
  const worded = (number: number) =>
    unit === '/s' ? `${Math.round(number).toLocaleString('en')}/s` : `${+number.toPrecision(3)} ${unit}`;
  const aimed = aim === null ? '' : 'atMost' in aim ? `< ${worded(aim.atMost)}` : `> ${worded(aim.atLeast)}`;
  return [what, worded(value), aimed, note];
}
