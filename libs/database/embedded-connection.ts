import pg from 'pg';
import { OperatorError } from '#platform/errors.js';
import { type Passwords } from './server-files.js';
import { connectionUrl, databaseName, type Login } from './roles.js';

/** Only used in the name of the socket file. */
export const PORT = 5432;

export interface EmbeddedConnection {
  /** The private folder of the Unix socket. There is no TCP. */
  socketDir: string;
  port: number;
  ownerUrl: string;
  /** The connection URL of a role, including its password. */
  urlFor(role: Login): string;
  passwordFor(role: Login): string;
}

export function connectionOver(socketDir: string, passwords: Passwords): EmbeddedConnection {
  const address = { host: socketDir, port: PORT, database: databaseName };
  const urlFor = (role: Login) => connectionUrl(address, role, passwords[role]);
  return { socketDir, port: PORT, ownerUrl: urlFor('owner'), urlFor, passwordFor: (role) => passwords[role] };
}

/** How far a starting server has got. */
export async function answerOf(connectionString: string): Promise<'ready' | 'recovering' | 'none'> {
  const client = new pg.Client({ connectionString });
  // Without a listener, an error of a connection in progress would end the process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return 'ready';
  } catch (error) {
    const code = (error as { code?: string }).code ?? '';
    // It checks passwords. Whether they are right shows when the database is prepared.
    if (code === '28P01') return 'ready';
    if (code === '57P03') return 'recovering';
    if (['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE'].includes(code)) return 'none';
    if (/Connection terminated/.test((error as Error).message)) return 'none';
    throw new OperatorError(`The database refuses its owner: ${(error as Error).message}.`);
  } finally {
    await client.end().catch(() => undefined);
  }
}
