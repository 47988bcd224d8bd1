import { afterEach, beforeEach, expect, it } from 'vitest';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { dataFolder } from '#operations/data-folder.js';
import { readEmbeddedConnection } from '#database/embedded-postgres.js';
import { databaseUrlOf } from '#database/roles.js';
import { until } from '../../test/support/eventually.js';
import { withEmbedded } from './database.access.js';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-cli-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const WAITING = `SELECT FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND query LIKE 'SELECT FROM pg_stat_activity%'`;

it('a command leaves the database of a data folder to another one that uses it, until that ends', async () => {
  const data = dataFolder({ DATA_DIR: folder });
  const { promise, resolve } = Promise.withResolvers<pg.Client>();
  const command = withEmbedded(data, async (server) => {
    const other = new pg.Client({ connectionString: databaseUrlOf(server.urlFor('admin'), 'postgres') });
    await other.connect();
    resolve(other);
  });
  const other = await Promise.race([promise, command.then(() => promise)]);
  await until('it waits', async () => (await other.query(WAITING)).rowCount === 1);
  expect(readEmbeddedConnection(data.database)).toBeDefined();
  await other.end();
  await command;
  expect(readEmbeddedConnection(data.database)).toBeUndefined();
});
