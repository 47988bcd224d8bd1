import { existsSync } from 'node:fs';
import type pg from 'pg';
import { setUpDatabase } from '#apps/billing/database.setup.js';
import { type DataFolder, dataFolder, prepareDataFolder } from '#apps/standalone/data-folder.js';
import { openPool } from '#database/database.js';
import {
  type EmbeddedPostgres,
  readEmbeddedConnection,
  startEmbeddedPostgres,
} from '#database/embedded-postgres.js';
import { OperatorError } from '#platform/errors.js';
import { createLogger } from '#platform/logging.js';

/** A command is one user at a time; the close of a period holds a lock and a snapshot, and writes beside them. */
const POOL_SIZE = 4;
/** A check reads the whole ledger. */
const STATEMENT_TIMEOUT_MS = 600_000;

/**
 * Runs a command on the database that the environment names, and lets go of it afterwards: DATABASE_URL, else the one
 * of the standalone relay that runs on DATA_DIR, else the embedded one there, started for the time of the command.
 */
export async function withDatabase<T>(
  env: NodeJS.ProcessEnv,
  work: (pool: pg.Pool) => Promise<T>,
): Promise<T> {
  const url = env['DATABASE_URL'];
  if (url) return onPool(checkedUrl(url), work);
  const folder = dataFolder(env);
  const running = readEmbeddedConnection(folder.database);
  if (running) return onPool(running.urlFor('billing'), work);
  return withEmbedded(folder, async (server) => {
    await setUpDatabase({ ownerUrl: server.ownerUrl });
    return onPool(server.urlFor('billing'), work);
  });
}

/** Runs the migrations of the database that the environment names. @returns what was applied now. */
export async function migrateDatabase(env: NodeJS.ProcessEnv): Promise<string[]> {
  const folder = dataFolder(env);
  const running = readEmbeddedConnection(folder.database);
  if (running) return setUpDatabase({ ownerUrl: running.ownerUrl });
  return withEmbedded(folder, (server) => setUpDatabase({ ownerUrl: server.ownerUrl }));
}

async function withEmbedded<T>(
  folder: DataFolder,
  work: (server: EmbeddedPostgres) => Promise<T>,
): Promise<T> {
  prepareDataFolder(folder);
  if (!existsSync(folder.database)) process.stderr.write(`Making a new database in ${folder.database}\n`);
  const server = await startEmbeddedPostgres({
    dataDir: folder.database,
    log: createLogger('tollgate', process.env['LOG_LEVEL'] ?? 'error'),
  });
  try {
    return await work(server);
  } finally {
    await server.stop();
  }
}

async function onPool<T>(url: string, work: (pool: pg.Pool) => Promise<T>): Promise<T> {
  const pool = openPool({
    url,
    max: POOL_SIZE,
    applicationName: 'tollgate-cli',
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
  });
  try {
    return await work(pool);
  } finally {
    await pool.end();
  }
}

function checkedUrl(url: string): string {
  if (URL.canParse(url)) return url;
  throw new OperatorError(
    'DATABASE_URL must be an absolute URL, such as postgresql://user:password@host/tollgate.',
  );
}
