import type pg from 'pg';
import { openPool } from '#database/database.js';
import type { EmbeddedPostgres } from '#database/embedded-postgres.js';
import { databaseUrlOf } from '#database/roles.js';

/** Connections of a superuser, for what the owner of a database may not do; statements may take any time. */
export function openAdminPool(server: EmbeddedPostgres, database: string): pg.Pool {
  const url = databaseUrlOf(server.urlFor('admin'), database);
  return openPool({ url, max: 1, applicationName: 'bench', statementTimeoutMs: 0 });
}

/** Writes out what a bulk load left behind; a server that took years for the same has long done so. */
export async function checkpoint(server: EmbeddedPostgres): Promise<void> {
  const admin = openAdminPool(server, 'postgres');
  await admin.query('CHECKPOINT').finally(() => admin.end());
}
