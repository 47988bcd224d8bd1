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
