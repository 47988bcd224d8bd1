import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import pg from 'pg';
import { createTestDatabase, rolePasswords, type TestDatabase } from '../../test/support/database.js';
import { openPool } from './database.js';
import { migrate, requireSchema } from './migrations.js';

let database: TestDatabase;
let folder: string;

beforeEach(async () => {
  database = await createTestDatabase();
  await query('DROP TABLE schema_migrations');
  folder = mkdtempSync(join(tmpdir(), 'tollgate-migrations-'));
  write('0001_first.sql', 'CREATE TABLE first_table (id int)');
  write('0002_second.sql', 'CREATE TABLE second_table (id int); INSERT INTO second_table VALUES (2)');
});

afterEach(async () => {
  rmSync(folder, { recursive: true });
  await database.drop();
});

function write(name: string, sql: string): void {
  writeFileSync(join(folder, name), sql);
}

async function query(sql: string, url = database.ownerUrl): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows as unknown[];
  } finally {
    await client.end();
  }
}

const run = () => migrate({ ownerUrl: database.ownerUrl, folder });

describe('migrate', () => {
  it('applies what is new, in order, once', async () => {
    expect(await run()).toEqual(['0001_first.sql', '0002_second.sql']);
    expect(await run()).toEqual([]);
    write('0003_third.sql', 'ALTER TABLE first_table ADD COLUMN name text');
    expect(await run()).toEqual(['0003_third.sql']);
    expect(await query('SELECT name FROM schema_migrations ORDER BY name')).toHaveLength(3);
  });

  it('repeats one that the server ended to resolve a deadlock', async () => {
    await query('CREATE SEQUENCE migration_runs');
    write(
      '0003_third.sql',
      `CREATE TABLE third_table (id int);
       DO $$ BEGIN
         IF nextval('migration_runs') < 3 THEN RAISE EXCEPTION 'deadlock detected' USING ERRCODE = '40P01'; END IF;
       END $$`,
    );
    expect(await run()).toContain('0003_third.sql');
    expect(await query('SELECT last_value AS runs FROM migration_runs')).toEqual([{ runs: '3' }]);
    expect(await query('SELECT FROM third_table')).toEqual([]);
  });

  it('applies a file that only has a comment', async () => {
    write('0003_third.sql', '-- Nothing reads first_table.name any more.');
    expect(await run()).toContain('0003_third.sql');
  });

  it('applies each file once if many programs start together', async () => {
    const applied = await Promise.all(Array.from({ length: 8 }, run));
    expect(applied.flat()).toEqual(['0001_first.sql', '0002_second.sql']);
  });

  it('leaves nothing of a file that fails, and continues from there once it is fixed', async () => {
    write('0002_second.sql', 'CREATE TABLE second_table (id int); SELECT 1 / 0');
    await expect(run()).rejects.toThrow('The migration 0002_second.sql failed: division by zero');
    expect(await query(`SELECT to_regclass('second_table') AS found`)).toEqual([{ found: null }]);
    write('0002_second.sql', 'CREATE TABLE second_table (id int)');
    expect(await run()).toEqual(['0002_second.sql']);
  });

  it('refuses an applied file that was edited', async () => {
    await run();
    write('0001_first.sql', 'CREATE TABLE first_table (id bigint)');
    await expect(run()).rejects.toThrow('The migration 0001_first.sql was edited after it was applied');
  });

  it('changes nothing in a newer database, which still serves this code', async () => {
    await run();
    rmSync(join(folder, '0002_second.sql'));
    expect(await run()).toEqual([]);
    expect(await query('SELECT name FROM schema_migrations ORDER BY name')).toHaveLength(2);
  });

  it.each([
    { needs: '0001', known: ['0001_first.sql', '0002_second.sql'] },
    { needs: '0002', known: ['0001_first.sql', '0002_second.sql'] },
    { needs: '0003', known: null },
  ])(
    'after a migration that needs programs that know $needs, serves code up to 0002: $known',
    async (one) => {
      write('0003_third.sql', 'SELECT 1');
      write('0004_fourth.sql', `-- Takes away.\n-- Needs programs that know ${one.needs}.\nSELECT 1`);
      await run();
      for (const name of ['0003_third.sql', '0004_fourth.sql']) rmSync(join(folder, name));
      if (one.known) return expect(await run()).toEqual([]);
      await expect(run()).rejects.toThrow(
        'The database is newer than this Tollgate: it has the migration 0004_fourth.sql, but the last one known here is 0002_second.sql.',
      );
    },
  );

  it('refuses a database with a migration that this code lacks, among those that it has', async () => {
    await run();
    rmSync(join(folder, '0001_first.sql'));
    await expect(run()).rejects.toThrow('newer than this Tollgate: it has the migration 0001_first.sql');
  });

  it('takes over a history from before migrations said what they need', async () => {
    await run();
    await query('ALTER TABLE schema_migrations DROP COLUMN needs');
    write('0003_third.sql', '-- Needs programs that know 0001.\nSELECT 1');
    expect(await run()).toEqual(['0003_third.sql']);
    expect(await query('SELECT needs FROM schema_migrations ORDER BY name')).toEqual([
      { needs: null },
      { needs: null },
      { needs: '0001' },
    ]);
  });

  it.each(['0002_again.sql', 'third.sql'])('refuses a file without a unique number: %s', async (name) => {
    write(name, 'SELECT 1');
    await expect(run()).rejects.toThrow(
      'is out of order: its name must start with four digits that no other migration has',
    );
  });
});

describe('requireSchema', () => {
  const check = async () => {
    const pool = openPool({ url: database.urlFor('gateway'), max: 1, applicationName: 'requireSchema' });
    await requireSchema(pool).finally(() => pool.end());
  };
  // As `migrate` leaves it, since the template's history was removed above.
  beforeEach(async () => {
    await query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
    await migrate({ ownerUrl: database.ownerUrl });
  });

  it('lets programs of this version start on its schema, and on one that only adds to it', async () => {
    await check();
    await query(`INSERT INTO schema_migrations (name, sha256) VALUES ('9998_adds.sql', 'x')`);
    await check();
  });

  it('refuses a schema that takes away what they use, an earlier one, and an empty one', async () => {
    await query(`INSERT INTO schema_migrations (name, sha256, needs) VALUES ('9998_takes.sql', 'x', '9997')`);
    await expect(check()).rejects.toThrow('newer than this Tollgate: it has the migration 9998_takes.sql');
    await query(`DELETE FROM schema_migrations WHERE name >= '0093'`);
    await expect(check()).rejects.toThrow(/older than this Tollgate: it lacks the migration 0093_vertex.sql/);
    await query('DROP TABLE schema_migrations');
    await expect(check()).rejects.toThrow('no schema yet: run migrate first');
  });
});

describe('the migrations of this repository', () => {
  it('let each program log in only with its own password', async () => {
    for (const role of ['gateway', 'worker', 'billing'] as const) {
      expect(await query('SELECT current_user AS name', database.urlFor(role))).toEqual([
        { name: `tollgate_${role}` },
      ]);
      const wrong = database.urlFor(role).replace(rolePasswords[role], 'wrong');
      await expect(query('SELECT 1', wrong)).rejects.toMatchObject({ code: '28P01' });
    }
  });

  it('keep the programs from changing the schema', async () => {
    for (const role of ['gateway', 'worker', 'billing'] as const) {
      await expect(query('CREATE TABLE mine (id int)', database.urlFor(role))).rejects.toMatchObject({
        code: '42501',
      });
    }
  });
});
