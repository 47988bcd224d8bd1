import { existsSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import type { DataSource } from 'typeorm';
import { ENTITIES } from '#operations/entities.js';
import { setUpDatabase } from '#operations/database.setup.js';
import { type DataFolder, dataFolder, prepareDataFolder } from '#operations/data-folder.js';
import { openDataSource, openPool } from '#database/database.js';
import {
  type EmbeddedPostgres,
  readEmbeddedConnection,
  startEmbeddedPostgres,
} from '#database/embedded-postgres.js';
import { listedFirst, type Listing } from '#finance/listing.js';
import { inSnapshot } from '#finance/snapshot.js';
import { requireSchema } from '#database/migrations.js';
import { databaseUrlOf } from '#database/roles.js';
import { readAlone } from '#platform/config.js';
import { OperatorError } from '#platform/errors.js';
import { createLogger } from '#platform/logging.js';
import { readSecrets, SecretBox } from '#platform/sealed-secret.js';
import { exitingAtSignals } from './operations/interruption.js';

const APPLICATION = 'tollgate-cli';
/** A command needs one connection; closing a period needs one for its lock, one for its snapshot and one to write. */
const POOL_SIZE = 4;
/** A check reads the whole ledger. */
const STATEMENT_TIMEOUT_MS = 600_000;
const OTHERS_POLL_MS = 100;
const OTHERS = `SELECT FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`;

/**
 * Runs a command on a database, and disconnects afterwards: DATABASE_URL, otherwise the one
 * of the standalone relay running on DATA_DIR, otherwise the embedded one there, started for the command.
 * @throws OperatorError if there is none (a new, empty one would pass every check and prove nothing), or if its schema
 * is not a version that this tool knows: what it writes could lack what is needed now.
 */
export async function onDatabase<T>(
  work: (pool: pg.Pool, url: string) => Promise<T>,
  env = process.env,
): Promise<T> {
  return onAnyDatabase(env, async (pool, url) => {
    await requireSchema(pool);
    return work(pool, url);
  });
}

export function onSnapshot<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  return onDatabase((pool) => inSnapshot(pool, work));
}

export function firstOf<Key extends string, Row extends Record<Key, string>, View>(
  list: Listing<Key, Row, View>,
  limit: number,
): Promise<{ items: View[]; more: boolean }> {
  return onSnapshot((client) => listedFirst(client, list, limit));
}

/** Like `onDatabase`, for commands that check the schema themselves. */
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

/** Opens that database's secrets, with the keys from the environment or the data folder. Without a key, none can be opened. */
export function readSecretsOf(env: NodeJS.ProcessEnv): SecretBox {
  const { secretsKeyFile } = dataFolder(env);
  const isGiven = env['SECRETS_KEY'] || env['SECRETS_KEY_FILE'];
  if (isGiven) return readAlone(env, readSecrets);
  if (env['DATABASE_URL'] || !existsSync(secretsKeyFile)) return new SecretBox([]);
  return readAlone({ SECRETS_KEY_FILE: secretsKeyFile }, readSecrets);
}

/** Runs the migrations of the database named by the environment. @returns those applied now */
export async function migrateDatabase(env: NodeJS.ProcessEnv): Promise<string[]> {
  const folder = dataFolder(env);
  const running = readEmbeddedConnection(folder.database);
  if (running) return setUpDatabase({ ownerUrl: running.ownerUrl });
  return withEmbedded(folder, (server) => setUpDatabase({ ownerUrl: server.ownerUrl }));
}

/** @throws OperatorError if a data folder has no database or this user cannot read it */
export function refuseWithout(folder: DataFolder): void {
  if (existsSync(folder.database)) return;
  throw new OperatorError(
    `There is no database in ${folder.root} that this user can open: set DATABASE_URL, or DATA_DIR to the relay's data folder. \`tollgate migrate\` creates a new database there.`,
  );
}

export async function withEmbedded<T>(
  folder: DataFolder,
  work: (server: EmbeddedPostgres) => Promise<T>,
): Promise<T> {
  prepareDataFolder(folder);
  if (!existsSync(folder.database)) process.stderr.write(`Creating a new database in ${folder.database}\n`);
  return exitingAtSignals(async () => {
    const server = await startEmbeddedPostgres({
      dataDir: folder.database,
      log: createLogger('tollgate', process.env['LOG_LEVEL'] ?? 'error'),
    });
    try {
      return await work(server);
    } finally {
      // A server that no longer answers has no other commands.
      await untilAlone(server).catch(() => undefined);
      await server.stop();
    }
  });
}

/** Other commands may have found the server meanwhile. Stopping it would cut them off. */
async function untilAlone(server: EmbeddedPostgres): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrlOf(server.urlFor('admin'), 'postgres') });
  client.on('error', () => undefined);
  await client.connect();
  try {
    // Connections of this command may still be closing in the first round.
    for (let round = 0; (await client.query(OTHERS)).rowCount !== 0; round += 1) {
      if (round === 1) process.stderr.write('Waiting for other commands that use this database\n');
      await pause(OTHERS_POLL_MS);
    }
  } finally {
    await client.end();
  }
}

export async function withSource<T>(url: string, work: (source: DataSource) => Promise<T>): Promise<T> {
  const source = await openDataSource({ url, max: 2, applicationName: APPLICATION, entities: ENTITIES });
  try {
    return await work(source);
  } finally {
    await source.destroy();
  }
}

async function onPool<T>(url: string, work: (pool: pg.Pool, url: string) => Promise<T>): Promise<T> {
  const pool = openPool({
    url,
    max: POOL_SIZE,
    applicationName: APPLICATION,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
  });
  try {
    return await work(pool, url);
  } finally {
    await pool.end();
  }
}
