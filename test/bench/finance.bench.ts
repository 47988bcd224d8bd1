import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { configureSandboxChannel } from '#catalog/catalog.seed.js';
import { openPool } from '#database/database.js';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '#database/embedded-postgres.js';
import { withDatabase } from '#database/roles.js';
import { checkLedger } from '#ledger/ledger-check.js';
import { createLogger } from '#platform/logging.js';
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
import { measurePosting } from './finance-bench.posting.js';
import { openLedger } from './ledger.bench.js';
import { printTable } from './report.js';

/** The finance desk on a ledger of many entries: each figure beside what it should be, with floors of the same run. */
export interface FinanceBenchOptions {
  entries: number;
  accounts: number;
  /** Seconds for each measurement of posting. */
  seconds: number;
  json: boolean;
}

export interface Figure {
  what: string;
  value: number;
  unit: 's' | 'ms' | '/s' | 'MB' | 'ratio';
  /** Null: there is no aim, it is for comparison. */
  aim: { atMost: number } | { atLeast: number } | null;
  note: string;
}

const DAYS = 30;
const CHECK_GRACE_MS = 60_000;

/** Runs the bench and prints what it found; sets the exit code when the books of the generator do not hold. */
export async function benchFinance(options: FinanceBenchOptions): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'tollgate-bench-'));
  const server = await startEmbeddedPostgres({ dataDir, log: createLogger('bench', 'warn') });
  const cleanUp = async () => {
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
  // The server is a process group of its own, and would outlive a Ctrl-C.
  const interrupted = (): void => void cleanUp().finally(() => process.exit(130));
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted);
  try {
    const figures = [
      ...(await measureBooks(server, options)),
      ...(await measurePosting(server, options.seconds)),
    ];
    if (options.json) process.stdout.write(`${JSON.stringify({ options, figures })}\n`);
    else printTable(['what', 'measured', 'aim', ''], figures.map(rowOf));
  } finally {
    process.off('SIGINT', interrupted).off('SIGTERM', interrupted);
    await cleanUp();
  }
}

async function measureBooks(server: EmbeddedPostgres, options: FinanceBenchOptions): Promise<Figure[]> {
  const ledger = await openLedger(server, 'books', 0);
  const billing = openPool({
    url: withDatabase(server.urlFor('billing'), 'books'),
    ...{ max: 4, applicationName: 'bench', statementTimeoutMs: 0 },
  });
  try {
    await configureSandboxChannel(ledger.owner, { baseUrl: 'http://127.0.0.1:9', apiKey: 'bench' });
    await ledger.owner.query(
      `INSERT INTO upstream_cost_versions (channel_id, model_id, unit_cost, actor, reason, request_id)
       SELECT channel_id, model_id, 0.01, 'bench', 'bench', model_id FROM channel_models`,
    );
    const startedMs = performance.now();
    const entries = await writeBooks(ledger.owner, { ...options, days: DAYS });
    const seconds = (performance.now() - startedMs) / 1000;
    const figures = [
      told({ what: 'writing the books', value: seconds, unit: 's', aim: null, note: `${entries} entries` }),
    ];
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
    await ledger.close();
  }
}

/** What the loops of the desk wrote stands in the books by then. */
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

function rowOf({ what, value, unit, aim, note }: Figure): string[] {
  const worded = (number: number) =>
    unit === '/s' ? `${Math.round(number).toLocaleString('en')}/s` : `${+number.toPrecision(3)} ${unit}`;
  const aimed = aim === null ? '' : 'atMost' in aim ? `< ${worded(aim.atMost)}` : `> ${worded(aim.atLeast)}`;
  return [what, worded(value), aimed, note];
}
