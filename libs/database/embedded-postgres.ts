import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { OperatorError } from '#platform/errors.js';
import { lockDataFolder } from './data-folder-lock.js';
import { connectionOver, type EmbeddedConnection } from './embedded-connection.js';
import { type EmbeddedPostgres, type EmbeddedPostgresOptions, EmbeddedServer } from './embedded-server.js';
import { leftoverPid, stopLeftover } from './leftover-server.js';
import { filesIn, readPasswords } from './server-files.js';

export type { EmbeddedPostgres } from './embedded-server.js';

/**
 * Starts a real PostgreSQL server for this process on a data folder, which is created at the first start and reused
 * afterwards. It stops a server that a killed predecessor left on the folder, and restarts its own after a crash.
 * @throws OperatorError, one sentence, if the folder is in use, unwritable, of another version, or no server runs
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const dataDir = resolve(options.dataDir);
  const files = filesIn(dataDir);
  const unlock = takeFolder(dataDir, files.lock);
  try {
    await stopLeftover(files.pgdata, options.log);
    const server = new EmbeddedServer({ ...options, dataDir }, unlock);
    await server.start();
    return server;
  } catch (error) {
    unlock();
    throw error;
  }
}

/**
 * Finds the server that another process runs on this data folder, for tools.
 * @returns undefined if there is none
 */
export function readEmbeddedConnection(dataDir: string): EmbeddedConnection | undefined {
  const files = filesIn(resolve(dataDir));
  if (leftoverPid(files.pgdata) === undefined) return undefined;
  try {
    const { socketDir } = JSON.parse(readFileSync(files.record, 'utf8')) as { socketDir: string };
    // The folder was moved since a killed program recorded it. Whoever starts on it stops the server that was left.
    if (!existsSync(socketDir)) return undefined;
    return connectionOver(socketDir, readPasswords(files.passwords));
  } catch {
    return undefined;
  }
}

function takeFolder(dataDir: string, lockFile: string): () => void {
  try {
    mkdirSync(dataDir, { recursive: true });
    return lockDataFolder(dataDir, lockFile);
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    throw new OperatorError(`Cannot write to the data folder ${dataDir}: ${(error as Error).message}.`);
  }
}
