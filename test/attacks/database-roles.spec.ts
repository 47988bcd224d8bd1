import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import pg from 'pg';
import { configureSandboxChannel, seedCatalog } from '#catalog/catalog.seed.js';
import { migrate } from '#database/migrations.js';
import { prepareDatabase } from '#database/prepare-database.js';
import { databaseUrlOf, withRole } from '#database/roles.js';
import { askForCluster, asLogin, rolePasswords } from '../support/database.js';

const programs = ['gateway', 'worker', 'billing'] as const;
const database = `roles_${process.pid}_${Date.now().toString(36)}`;
let adminUrl: string;
let ownerUrl: string;
let admin: pg.Client;

/** A database created and migrated like an installation's, with the first catalog. */
beforeAll(async () => {
  const cluster = await askForCluster();
  adminUrl = databaseUrlOf(cluster.adminUrl, database);
  ownerUrl = databaseUrlOf(cluster.ownerUrl, database);
  const owner = decodeURIComponent(new URL(ownerUrl).password);
  const passwords = { ...rolePasswords, owner };
  await prepareDatabase({ adminUrl: cluster.adminUrl, database, passwords });
  await migrate({ ownerUrl });
  await asLogin(ownerUrl, async (client) => {
    await seedCatalog(client);
    await configureSandboxChannel(client, { baseUrl: 'http://127.0.0.1:9', apiKey: 'k' });
  });
  admin = new pg.Client({ connectionString: adminUrl });
  await admin.connect();
});

afterAll(async () => {
  await admin.end();
  const cluster = await askForCluster();
  await asLogin(cluster.adminUrl, (client) => client.query(`DROP DATABASE ${database} WITH (FORCE)`));
});

const as = <T>(role: (typeof programs)[number], work: (client: pg.Client) => Promise<T>) =>
  asLogin(withRole(ownerUrl, role, rolePasswords[role]), work);

async function list(sql: string): Promise<unknown[]> {
  return (await admin.query(sql)).rows as unknown[];
}

const GRANTS = (kind: string, acl: string, from: string) =>
  `SELECT '${kind}' AS kind, item, coalesce(r.rolname, 'PUBLIC') AS grantee, a.privilege_type AS privilege, a.is_grantable AS further
   FROM ${from}, LATERAL aclexplode(${acl}) a LEFT JOIN pg_roles r ON r.oid = a.grantee
   WHERE coalesce(r.rolname, 'PUBLIC') NOT IN ('tollgate_owner', 'pg_database_owner')`;

/** Every privilege that anybody except an owner has in the database. */
const EVERY_GRANT = [
  GRANTS(
    'table',
    `coalesce(c.relacl, acldefault(CASE c.relkind WHEN 'S' THEN 's' ELSE 'r' END::"char", c.relowner))`,
    `(SELECT oid::regclass::text AS item, * FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r','p','v','m','S','f')) c`,
  ),
  GRANTS(
    'column',
    'c.attacl',
    `(SELECT attrelid::regclass || '.' || attname AS item, * FROM pg_attribute WHERE attacl IS NOT NULL
      AND attrelid IN (SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace)) c`,
  ),
  GRANTS(
    'routine',
    `coalesce(c.proacl, acldefault('f', c.proowner))`,
    `(SELECT oid::regprocedure::text AS item, * FROM pg_proc WHERE pronamespace = 'public'::regnamespace) c`,
  ),
  GRANTS(
    'schema',
    `coalesce(c.nspacl, acldefault('n', c.nspowner))`,
    `(SELECT nspname AS item, * FROM pg_namespace WHERE nspname !~ '^(pg_|information_schema)') c`,
  ),
  GRANTS(
    'database',
    `coalesce(c.datacl, acldefault('d', c.datdba))`,
    `(SELECT datname AS item, * FROM pg_database WHERE datname = current_database()) c`,
  ),
].join(' UNION ALL ');

const ALLOWED: Record<string, string[]> = {
  table: ['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'USAGE'],
  column: ['SELECT', 'INSERT', 'UPDATE'],
  routine: ['EXECUTE'],
  schema: ['USAGE'],
  database: ['CONNECT'],
};

describe('a migrated database', () => {
  it('has roles without rights over the server, and none is a member of another', async () => {
    const rights = 'rolsuper, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls';
    const roles = await list(`SELECT rolname AS name, ${rights} FROM pg_roles
      WHERE rolname ~ '^tollgate_' AND rolname <> 'tollgate_admin' ORDER BY 1`);
    const none = {
      rolsuper: false,
      rolcreaterole: false,
      rolcreatedb: false,
      rolreplication: false,
      rolbypassrls: false,
    };
    const names = ['tollgate_billing', 'tollgate_gateway', 'tollgate_owner', 'tollgate_worker'];
    expect(roles).toEqual(names.map((name) => ({ name, ...none })));
    // The owner may end connections on a test server; see test/support/database.ts.
    expect(
      await list(`SELECT m.rolname AS member, r.rolname AS role FROM pg_auth_members
        JOIN pg_roles m ON m.oid = member JOIN pg_roles r ON r.oid = roleid
        WHERE m.rolname ~ '^tollgate_(gateway|worker|billing)$' OR r.rolname ~ '^tollgate_'`),
    ).toEqual([]);
  });

  it('belongs to the owner, with everything in it', async () => {
    expect(
      await list(`SELECT c.oid::regclass::text AS item FROM pg_class c
          WHERE relnamespace = 'public'::regnamespace AND relowner <> 'tollgate_owner'::regrole
        UNION ALL SELECT p.oid::regprocedure::text FROM pg_proc p
          WHERE pronamespace = 'public'::regnamespace AND proowner <> 'tollgate_owner'::regrole
        UNION ALL SELECT datname FROM pg_database
          WHERE datname = current_database() AND datdba <> 'tollgate_owner'::regrole
        UNION ALL SELECT nspname FROM pg_namespace
          WHERE nspname !~ '^(pg_|information_schema)' AND nspowner <> 'pg_database_owner'::regrole`),
    ).toEqual([]);
  });

  it('grants programs by name what ordinary work needs, and nothing to the public', async () => {
    const grants = (await list(EVERY_GRANT)) as {
      kind: string;
      grantee: string;
      privilege: string;
      further: boolean;
    }[];
    expect(grants.length).toBeGreaterThan(300);
    const wrong = grants.filter(
      ({ kind, grantee, privilege, further }) =>
        further ||
        !/^tollgate_(gateway|worker|billing)$/.test(grantee) ||
        !ALLOWED[kind]!.includes(privilege),
    );
    expect(wrong).toEqual([]);
  });

  it('gives nobody rights on what later migrations create', async () => {
    const defaults = await list(`SELECT defaclobjtype AS type, coalesce(r.rolname, 'PUBLIC') AS grantee
      FROM pg_default_acl, LATERAL aclexplode(defaclacl) a LEFT JOIN pg_roles r ON r.oid = a.grantee
      WHERE defaclrole = 'tollgate_owner'::regrole AND a.grantee <> defaclrole`);
    expect(defaults).toEqual([]);
    await asLogin(ownerUrl, async (owner) => {
      await owner.query(
        `CREATE FUNCTION later() RETURNS int LANGUAGE sql AS 'SELECT 1'; CREATE TABLE later_table (id int)`,
      );
      for (const role of programs) {
        await expect(as(role, (client) => client.query('SELECT later()'))).rejects.toMatchObject({
          code: '42501',
        });
        const read = as(role, (client) => client.query('SELECT FROM later_table'));
        await expect(read).rejects.toMatchObject({ code: '42501' });
      }
      await owner.query('DROP FUNCTION later(); DROP TABLE later_table');
    });
  });

  it('pins the search path of every function that runs with its owner’s rights', async () => {
    expect(
      await list(`SELECT oid::regprocedure::text AS routine, proconfig FROM pg_proc
        WHERE pronamespace = 'public'::regnamespace AND prosecdef
          AND NOT coalesce('search_path=pg_catalog, public, pg_temp' = ANY (proconfig), false)`),
    ).toEqual([]);
  });
});

describe.each(programs)('the role of %s', (role) => {
  it('cannot create anything: tables, temporary ones, functions, schemas, triggers', async () => {
    for (const sql of [
      'CREATE TABLE mine (id int)',
      'CREATE TEMP TABLE catalog_revision (revision bigint)',
      `CREATE FUNCTION public.mine() RETURNS int LANGUAGE sql AS 'SELECT 1'`,
      `CREATE FUNCTION pg_temp.mine() RETURNS int LANGUAGE sql AS 'SELECT 1'`,
      'CREATE SCHEMA mine',
      'CREATE TRIGGER mine AFTER INSERT ON outbox FOR EACH STATEMENT EXECUTE FUNCTION bump_catalog_revision()',
      'TRUNCATE ledger_entries',
      'ALTER TABLE ledger_entries DISABLE TRIGGER USER',
      'SET session_replication_role = replica',
      'SET ROLE tollgate_owner',
    ]) {
      await expect(as(role, (client) => client.query(sql))).rejects.toMatchObject({ code: '42501' });
    }
  });

  it('cannot get the owner’s rights with a bait in its own schema', async () => {
    const bait = `
      CREATE TABLE pg_temp.catalog_revision (revision bigint);
      INSERT INTO pg_temp.catalog_revision VALUES (1);
      CREATE FUNCTION pg_temp.climb() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN EXECUTE 'ALTER ROLE ' || quote_ident(session_user) || ' SUPERUSER'; RETURN NEW; END $$;
      CREATE TRIGGER climb BEFORE UPDATE ON pg_temp.catalog_revision FOR EACH ROW EXECUTE FUNCTION pg_temp.climb();
      CREATE TABLE pg_temp.bait (id int);
      CREATE TRIGGER bait AFTER INSERT ON pg_temp.bait FOR EACH STATEMENT EXECUTE FUNCTION public.bump_catalog_revision();
      INSERT INTO pg_temp.bait VALUES (1)`;
    await expect(as(role, (client) => client.query(bait))).rejects.toMatchObject({ code: '42501' });
    // Even if someone may create temporary tables, a function of ours runs with the caller's rights.
    await admin.query(`GRANT TEMP ON DATABASE ${database} TO tollgate_${role}`);
    await expect(as(role, (client) => client.query(bait))).rejects.toMatchObject({ code: '42501' });
    await admin.query(`REVOKE TEMP ON DATABASE ${database} FROM tollgate_${role}`);
    expect(
      await list(`SELECT rolname FROM pg_roles WHERE rolsuper AND rolname = 'tollgate_${role}'`),
    ).toEqual([]);
  });
});

it('counts up the catalog’s revision when billing changes it, with billing’s rights', async () => {
  const revision = async () =>
    (await list('SELECT revision FROM catalog_revision'))[0] as { revision: string };
  const before = await revision();
  await as('billing', (client) => client.query(`UPDATE channels SET weight = weight`));
  expect(BigInt((await revision()).revision)).toBe(BigInt(before.revision) + 1n);
});
