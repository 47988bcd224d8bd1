import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import pg from 'pg';
import { createTestDatabase, type TestDatabase } from '../../test/support/database.js';
import { type SchemaSnapshot, snapshotSchema, takenAway } from '../../test/support/schema-change.js';
import { ownMigrations } from './migration-history.js';

/** No version was released before. */
const LAST_UNCHECKED = '0093';

const migrations = ownMigrations();
const found = new Map<string, string[]>();
let database: TestDatabase;
let owner: pg.Client;

beforeAll(async () => {
  database = await createTestDatabase();
  owner = new pg.Client({ connectionString: database.ownerUrl });
  await owner.connect();
  await owner.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
  await owner.query('CREATE TABLE schema_migrations ()');
  let before = await snapshotSchema(owner);
  for (const { name, sql } of migrations) {
    await owner.query(sql);
    const after = await snapshotSchema(owner);
    found.set(name.slice(0, 4), takenAway(before, after));
    before = after;
  }
});

afterAll(async () => {
  await owner.end();
  await database.drop();
});

describe('migrations', () => {
  it('take nothing away from the version before, unless they say which versions no longer use it', () => {
    const wrong = migrations
      .filter(({ name, needs }) => name > `${LAST_UNCHECKED}_` && needs === null)
      .flatMap(({ name }) => found.get(name.slice(0, 4))!.map((what) => `${name}: ${what}`));
    expect(wrong).toEqual([]);
  });

  it('need a migration that came before', () => {
    const numbers = migrations.map(({ name }) => name.slice(0, 4));
    const wrong = migrations.filter(({ name, needs }) => needs && !(numbers.includes(needs) && needs < name));
    expect(wrong.map(({ name }) => name)).toEqual([]);
  });

  it('of before are seen as they are: additions, wider lists, and what took something away', () => {
    for (const added of ['0081', '0086', '0087', '0088', '0089', '0091', '0092', '0093'])
      expect([added, found.get(added)]).toEqual([added, []]);
    expect(found.get('0084')).toEqual([
      'usage_days.latency_ms must be given',
      'usage_days.timed must be given',
    ]);
  });
});

describe('a change that takes away', () => {
  const changed = async (sql: string): Promise<string[]> => {
    await owner.query('BEGIN');
    try {
      const before: SchemaSnapshot = await snapshotSchema(owner);
      await owner.query(sql);
      return takenAway(before, await snapshotSchema(owner));
    } finally {
      await owner.query('ROLLBACK');
    }
  };

  const allowedWords = async (constraint: string): Promise<string[]> => {
    const sql = `SELECT pg_get_constraintdef(oid) AS definition FROM pg_constraint WHERE conname = $1`;
    const { rows } = await owner.query<{ definition: string }>(sql, [constraint]);
    return rows[0]!.definition.match(/'[^']*'/g)!;
  };

  it.each([
    ['ALTER TABLE tasks DROP COLUMN traceparent', 'tasks.traceparent is gone'],
    ['ALTER TABLE tasks RENAME COLUMN traceparent TO trace', 'tasks.traceparent is gone'],
    ['ALTER TABLE tasks ALTER COLUMN traceparent TYPE varchar(9)', 'is character varying(9), no longer text'],
    ['ALTER TABLE tasks ALTER COLUMN traceparent SET NOT NULL', 'tasks.traceparent must be given'],
    ['ALTER TABLE charges ADD COLUMN why text NOT NULL', 'charges.why must be given'],
    ['ALTER TABLE channels ADD CHECK (base_url <> id)', 'is new: CHECK'],
    [
      `ALTER TABLE charges ADD COLUMN why text, ADD CHECK (state <> 'released' OR why IS NOT NULL)`,
      'is new: CHECK',
    ],
    ['CREATE UNIQUE INDEX one_each ON channels (base_url)', 'channels.one_each is new: CREATE UNIQUE INDEX'],
    ['REVOKE SELECT ON tasks FROM tollgate_worker', 'no longer: tollgate_worker may SELECT tasks'],
    ['DROP FUNCTION lines_cost(jsonb, numeric, numeric, numeric)', 'the function lines_cost('],
  ])('is found: %s', async (sql, finding) => {
    expect(await changed(sql)).toContainEqual(expect.stringContaining(finding));
  });

  it('is a list of allowed words that lacks one, and not one that has more', async () => {
    const allowed = await allowedWords('channels_protocol_check');
    const list = (words: readonly string[]) => `ALTER TABLE channels DROP CONSTRAINT channels_protocol_check;
      ALTER TABLE channels ADD CONSTRAINT channels_protocol_check CHECK (protocol IN (${words.join(', ')}))`;
    expect(await changed(list([...allowed, `'other'`]))).toEqual([]);
    expect(await changed(list(allowed.slice(1)))).toContainEqual(
      expect.stringContaining('channels_protocol_check is new'),
    );
  });
});
