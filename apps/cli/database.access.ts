import { existsSync } from 'node:fs';
import type pg from 'pg';
import { setUpDatabase } from '#operations/database.setup.js';
import { type DataFolder, dataFolder, prepareDataFolder } from '#operations/data-folder.js';
import { openPool } from '#database/database.js';
import {
  type EmbeddedPostgres,
  readEmbeddedConnection,
  startEmbeddedPostgres,
} from '#database/embedded-postgres.js';
import { requireSchema } from '#database/migrations.js';
import { readAlone } from '#platform/config.js';
import { OperatorError } from '#platform/errors.js';
import { createLogger } from '#platform/logging.js';
import { readSecrets, SecretBox } from '#platform/sealed-secret.js';

/** A command is one user at a time; the close of a period holds a lock and a snapshot, and writes beside them. */
const POOL_SIZE = 4;
/** A check reads the whole ledger. */
const STATEMENT_TIMEOUT_MS = 600_000;

/**
 * Runs a command on the database that the environment names, and lets go of it afterwards: DATABASE_URL, else the one
 * of the standalone relay that runs on DATA_DIR, else the embedded one there, started for the time of the command.
 * @throws OperatorError where there is none: the books of a new one would be in order, and say nothing; or where its schema
 * is of no version that this tool knows: what it writes could lack what is needed now.
 */
export async function onDatabase<T>(
  env: NodeJS.ProcessEnv,
  work: (pool: pg.Pool, url: string) => Promise<T>,
): Promise<T> {
  return onAnyDatabase(env, async (pool, url) => {
    await requireSchema(pool);
    return work(pool, url);
  });
}

/** The same for who looks at the schema by themselves. */
export async function onAnyDatabase<T>(
  env: NodeJS.ProcessEnv,
  work: (pool: pg.Pool, url: string) => Promise<T>,
): Promise<T> {
  const url = readAlone(env, (reader) => reader.get('DATABASE_URL', ''));
  if (url) return onPool(url, work);
  const folder = dataFolder(env);
  const running = readEmbeddedConnection(folder.database);
  if (running) return onPool(running.urlFor('billing'), work);
  refuseWithout(folder);
  return withEmbedded(folder, async (server) => {
    await setUpDatabase({ ownerUrl: server.ownerUrl });
    return onPool(server.urlFor('billing'), work);
  });
}

/** What opens the secrets of that database: by the environment, else by the data folder; without a key nothing sealed. */
export function readSecretsOf(env: NodeJS.ProcessEnv): SecretBox {
  const { secretsKeyFile } = dataFolder(env);
  const isGiven = env['SECRETS_KEY'] || env['SECRETS_KEY_FILE'];
  if (isGiven) return readAlone(env, readSecrets);
  if (env['DATABASE_URL'] || !existsSync(secretsKeyFile)) return new SecretBox([]);
  return readAlone({ SECRETS_KEY_FILE: secretsKeyFile }, readSecrets);
}

/** Runs the migrations of the database that the environment names. @returns what was applied now. */
export async function migrateDatabase(env: NodeJS.ProcessEnv): Promise<string[]> {
  const folder = dataFolder(env);
  const running = readEmbeddedConnection(folder.database);
  if (running) return setUpDatabase({ ownerUrl: running.ownerUrl });
  return withEmbedded(folder, (server) => setUpDatabase({ ownerUrl: server.ownerUrl }));
}

/** @throws OperatorError where a data folder holds no database, or hides it from this user. */
export function refuseWithout(folder: DataFolder): void {
  if (existsSync(folder.database)) return;
  throw new OperatorError(
    `There is no database in ${folder.root} that this user can open: set DATABASE_URL, or DATA_DIR to the relay's data folder. \`tollgate migrate\` creates a new database there.`,
  );
}

/** Starts the embedded database of a data folder for the time of some work. */
export async function withEmbedded<T>(
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

async function onPool<T>(url: string, work: (pool: pg.Pool, url: string) => Promise<T>): Promise<T> {
  const pool = openPool({
    url,
    max: POOL_SIZE,
    applicationName: 'tollgate-cli',
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
  });
  try {
    return await work(pool, url);
  } finally {
    await pool.end();
  }
}
