import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate } from '#database/migrations.js';
import { asLogin, type TestDatabase } from './database.js';

const MIGRATIONS = join(import.meta.dirname, '../../libs/database/migrations');

/**
 * Empties a database and migrates it up to a file. Then runs `work`, which fills it with what was there in those days, and
 * applies that file. @returns what was applied
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
