import { afterAll, beforeAll, expect } from 'vitest';
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { migrate } from '#database/migrations.js';
import { asLogin, createTestDatabase, type TestDatabase } from './database.js';

const MIGRATIONS = join(import.meta.dirname, '../../libs/database/migrations');

/**
 * Empties a database and migrates it up to a file. Then runs `work`, which inserts data of that time, and applies the
 * file.
 * @returns the applied migrations
 */
export async function acrossMigration(
  { ownerUrl }: TestDatabase,
  name: string,
  work: () => Promise<unknown>,
): Promise<string[]> {
  await asLogin(ownerUrl, (owner) => owner.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public'));
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-earlier-'));
  const take = (file: string) => cpSync(join(MIGRATIONS, file), join(folder, file));
  try {
    for (const earlier of readdirSync(MIGRATIONS).filter((file) => file < name)) take(earlier);
    await migrate({ ownerUrl, folder });
    await work();
    take(name);
    return await migrate({ ownerUrl, folder });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** For a whole spec file: a database with data from before one migration, and only that migration applied to it. */
export function databaseAcross(name: string, fill: (owner: pg.Client) => Promise<unknown>): () => pg.Client {
  let database: TestDatabase;
  let owner: pg.Client;
  beforeAll(async () => {
    database = await createTestDatabase();
    owner = new pg.Client({ connectionString: database.ownerUrl });
    await owner.connect();
    expect(await acrossMigration(database, name, () => fill(owner))).toEqual([name]);
  });
  afterAll(async () => {
    await owner.end();
    await database.drop();
  });
  return () => owner;
}
