import type pg from 'pg';
import { openPool } from '#database/database.js';
import type { EmbeddedPostgres } from '#database/embedded-postgres.js';
import { databaseUrlOf } from '#database/roles.js';

/** A superuser's connections, for what a database's owner may not do. Statements may take any time. */
export function openAdminPool(server: EmbeddedPostgres, database: string): pg.Pool {
  const url = databaseUrlOf(server.urlFor('admin'), database);
  return openPool({ url, max: 1, applicationName: 'bench', statementTimeoutMs: 0 });
}

/** Writes out what a bulk load left behind. A server that took years for the same would long have done so. */
export async function checkpoint(server: EmbeddedPostgres): Promise<void> {
  const admin = openAdminPool(server, 'postgres');
  await admin.query('CHECKPOINT').finally(() => admin.end());
}
