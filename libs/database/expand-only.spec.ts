import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import pg from 'pg';
import { createTestDatabase, type TestDatabase } from '../../test/support/database.js';
import { snapshotSchema, takenAway } from '../../test/support/schema-change.js';
import { type Migration, ownMigrations } from './migration-history.js';

/** No version was released before this one. */
const LAST_UNCHECKED = '0093';
/** Migrations before this one are not compared. */
const FIRST_COMPARED = '0081';
/** How a migration says that the version before works despite a finding. */
const HARMLESS = /^-- The version before works on: (.+)\.$/gm;

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
  const numbered = migrations.map((migration) => ({ ...migration, number: numberOf(migration) }));
  for (const { sql } of numbered.filter(({ number }) => number < FIRST_COMPARED)) await owner.query(sql);
  let before = await snapshotSchema(owner);
  for (const { number, sql } of numbered.filter(({ number }) => number >= FIRST_COMPARED)) {
    await owner.query(sql);
    const after = await snapshotSchema(owner);
    found.set(number, await takenAway(owner, before, after));
    before = after;
  }
});

afterAll(async () => {
  await owner.end();
  await database.drop();
});

type Named = Pick<Migration, 'name' | 'needs'>;

function numberOf({ name }: Named): string {
  return name.slice(0, 4);
}

/** What a migration does to the version before without saying so. */
function unsaid({ sql, needs }: Pick<Migration, 'sql' | 'needs'>, findings: readonly string[]): string[] {
  if (needs !== null) return [];
  const harmless = new Set([...sql.matchAll(HARMLESS)].map(([, finding]) => finding));
  return findings.filter((finding) => !harmless.has(finding));
}

/** Migrations that need one that did not come before them. */
function wrongNeeds(all: readonly Named[]): string[] {
  const numbers = new Set(all.map(numberOf));
  const isWrong = ({ name, needs }: Named) =>
    needs !== null && !(numbers.has(needs) && needs < name.slice(0, 4));
  return all.filter(isWrong).map(({ name }) => name);
}

describe('migrations', () => {
  it('take nothing away from the version before, unless they say which versions no longer use it', () => {
    const wrong = migrations
      .filter((migration) => numberOf(migration) > LAST_UNCHECKED)
      .flatMap((one) => unsaid(one, found.get(numberOf(one))!).map((what) => `${one.name}: ${what}`));
    expect(wrong).toEqual([]);
  });

  it('may say that the version before works on, separately for each finding', () => {
    const findings = ['the function f() is changed', 'the trigger t of tasks is new'];
    const sql = '-- Adds up.\n-- The version before works on: the function f() is changed.\nSELECT 1';
    expect(unsaid({ sql, needs: null }, findings)).toEqual(['the trigger t of tasks is new']);
    expect(unsaid({ sql: '', needs: '0001' }, findings)).toEqual([]);
  });

  it('need a migration that came before', () => {
    expect(wrongNeeds(migrations)).toEqual([]);
    const needs = { '0003_a.sql': '0002', '0004_b.sql': '0001', '0005_c.sql': '0005', '0006_d.sql': '0009' };
    const others = Object.entries(needs).map(([name, number]) => ({ name, needs: number }));
    const all = [{ name: '0001_first.sql', needs: null }, ...others];
    expect(wrongNeeds(all)).toEqual(['0003_a.sql', '0005_c.sql', '0006_d.sql']);
  });

  it('from the past are classified correctly: additions, wider lists, and removals', () => {
    for (const added of ['0081', '0086', '0087', '0088', '0091', '0093'])
      expect([added, found.get(added)]).toEqual([added, []]);
    expect(found.get('0084')!.toSorted()).toEqual([
      'the default of usage_days.latency_ms is gone',
      'the default of usage_days.timed is gone',
      'usage_days.latency_ms must be given',
      'usage_days.timed must be given',
    ]);
    expect(found.get('0089')!.toSorted()).toEqual([
      'the function token_price(text,price_versions) is changed',
      'the view upstream_cost_times is changed',
    ]);
    expect(found.get('0092')).toEqual(['the trigger sum_up_charts of revenue_days is new']);
  });
});

describe('a breaking change', () => {
  const changed = async (sql: string): Promise<string[]> => {
    await owner.query('BEGIN');
    try {
      const before = await snapshotSchema(owner);
      await owner.query(sql);
      return await takenAway(owner, before, await snapshotSchema(owner));
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
    ['REVOKE USAGE ON SCHEMA public FROM tollgate_worker', 'no longer: tollgate_worker may USAGE the schema'],
    ['DROP FUNCTION lines_cost(jsonb, numeric, numeric, numeric)', 'the function lines_cost('],
    ['ALTER TABLE tasks ADD COLUMN why text CHECK (why IS NOT NULL)', 'is new: CHECK'],
    [`ALTER TABLE tasks ADD COLUMN why text DEFAULT 'a' CHECK (why = 'b')`, 'is new: CHECK'],
    [
      `ALTER TABLE channels ADD COLUMN why text DEFAULT 'a', ADD UNIQUE (base_url, why)`,
      'is new: UNIQUE (base_url, why)',
    ],
    [
      'ALTER TABLE channels ADD COLUMN why text, ADD UNIQUE NULLS NOT DISTINCT (why)',
      'is new: UNIQUE NULLS NOT DISTINCT (why)',
    ],
    ['ALTER TABLE model_days DROP CONSTRAINT model_days_pkey', 'is no longer unique'],
    ['ALTER TABLE tasks ALTER COLUMN created_at DROP DEFAULT', 'the default of tasks.created_at is gone'],
    [
      'CREATE TRIGGER other BEFORE INSERT ON tasks EXECUTE FUNCTION refuse_change()',
      'the trigger other of tasks is new',
    ],
    [
      'ALTER TABLE ledger_entries DISABLE TRIGGER zero_sum',
      'the trigger zero_sum of ledger_entries is changed',
    ],
    ['DROP TRIGGER zero_sum ON ledger_entries', 'the trigger zero_sum of ledger_entries is gone'],
    [
      `CREATE OR REPLACE FUNCTION catalog_lock_key() RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT 7::bigint'`,
      'the function catalog_lock_key() is changed',
    ],
    [
      'CREATE OR REPLACE VIEW reward_debts AS SELECT account_id, amount AS owed FROM reward_debt_payments',
      'the view reward_debts is changed',
    ],
    ['CREATE RULE quiet AS ON DELETE TO tasks DO INSTEAD NOTHING', 'the rule quiet of tasks is new'],
    ['ALTER TABLE tasks ENABLE ROW LEVEL SECURITY', 'the row security of tasks is new'],
    ['CREATE POLICY own ON tasks USING (false)', 'the policy own of tasks is new'],
  ])('is found: %s', async (sql, finding) => {
    expect(await changed(sql)).toContainEqual(expect.stringContaining(finding));
  });

  it('is found in the public’s rights, unless each program keeps the right', async () => {
    await owner.query(
      'CREATE FUNCTION anybodys() RETURNS int LANGUAGE sql AS $$SELECT 1$$; GRANT EXECUTE ON FUNCTION anybodys() TO PUBLIC',
    );
    const revoke = 'REVOKE EXECUTE ON FUNCTION anybodys() FROM PUBLIC';
    const programs = 'tollgate_gateway, tollgate_worker, tollgate_billing';
    expect(await changed(revoke)).toContain('no longer: tollgate_worker may EXECUTE anybodys()');
    expect(await changed(`${revoke}; GRANT EXECUTE ON FUNCTION anybodys() TO ${programs}`)).toEqual([]);
  });

  it.each([
    `ALTER TABLE tasks ADD COLUMN why text CHECK (why IN ('a', 'b')), ADD COLUMN how int DEFAULT 3 CHECK (how > 2)`,
    'ALTER TABLE tasks ADD COLUMN why uuid DEFAULT gen_random_uuid() UNIQUE',
    'ALTER TABLE tasks ADD COLUMN why bigint GENERATED ALWAYS AS IDENTITY',
    'CREATE TABLE others (id int PRIMARY KEY CHECK (id > 3)); CREATE TRIGGER other BEFORE INSERT ON others EXECUTE FUNCTION refuse_change()',
  ])('is not found in: %s', async (sql) => {
    expect(await changed(sql)).toEqual([]);
  });

  it('is a list of allowed words that lacks one, but not one that has more', async () => {
    const allowed = await allowedWords('models_routing_check');
    const list = (words: readonly string[]) => `ALTER TABLE models DROP CONSTRAINT models_routing_check;
      ALTER TABLE models ADD CONSTRAINT models_routing_check CHECK (routing IN (${words.join(', ')}))`;
    expect(await changed(list([...allowed, `'other'`]))).toEqual([]);
    expect(await changed(list(allowed.slice(1)))).toContainEqual(
      expect.stringContaining('models_routing_check is new'),
    );
  });
});
