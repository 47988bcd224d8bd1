import pg from 'pg';
import { OperatorError } from '#platform/errors.js';
import { lockConnection } from './locks.js';
import { type DatabaseRole, roleName, databaseRoles, databaseUrlOf, withRole } from './roles.js';

export interface Preparation {
  /** A superuser's login to any database of the server. */
  adminUrl: string;
  /** The database to create, if it does not exist. */
  database: string;
  /** The owner's is required. A program's role without one keeps its password. */
  passwords: Partial<Record<DatabaseRole, string>> & { owner: string };
}

/** Exists only while an installation of an earlier version is upgraded. */
const HELPER = 'tollgate_upgrade';

/**
 * Creates what migrations need and may not create themselves: the roles, none with rights over the server, and a
 * database that belongs to the owner and is closed to everyone else. Safe to repeat, and to run concurrently.
 * @throws OperatorError if the login is refused or is no superuser's
 */
export async function prepareDatabase(preparation: Preparation): Promise<void> {
  const { adminUrl, database } = preparation;
  await asAdmin(preparation, async (client) => {
    await lockConnection(client, 'preparation');
    for (const role of databaseRoles) await makeRole(client, role, preparation.passwords[role]);
    await makeDatabase(client, database);
    await client.query(`DROP ROLE IF EXISTS ${HELPER}`);
  });
  await connected(databaseUrlOf(adminUrl, database), handOver);
}

/** Closes a database to everyone but its owner and the programs, which may connect but not create temporary tables. */
export async function closeDatabase(client: pg.ClientBase | pg.Pool, database: string): Promise<void> {
  const name = pg.escapeIdentifier(database);
  const programs = databaseRoles.filter((role) => role !== 'owner').map(roleName);
  await client.query(`REVOKE ALL ON DATABASE ${name} FROM PUBLIC, ${programs.join(', ')}`);
  await client.query(`GRANT CONNECT ON DATABASE ${name} TO ${programs.join(', ')}`);
}

async function asAdmin(preparation: Preparation, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const { adminUrl } = preparation;
  const checked = async (client: pg.Client) => {
    if (await isSuperuser(client)) return work(client);
    throw new OperatorError('The login in ADMIN_DATABASE_URL must be a superuser of the database server.');
  };
  try {
    await connected(adminUrl, checked);
  } catch (error) {
    if ((error as { code?: string }).code !== '28P01') throw error;
    await renameFirstSuperuser(preparation, error);
    await connected(adminUrl, checked);
  }
}

/**
 * In an earlier version, the owner of an installation is the first superuser of its server, and can never stop being
 * one. It gets the admin's name, and the owner becomes a new, plain role. If this is interrupted, the next attempt
 * completes it.
 */
async function renameFirstSuperuser({ adminUrl, passwords }: Preparation, refusal: unknown): Promise<void> {
  const { username, password } = new URL(adminUrl);
  const adminPassword = decodeURIComponent(password);
  const helperUrl = new URL(adminUrl);
  helperUrl.username = HELPER;
  await connected(withRole(adminUrl, 'owner', passwords.owner), async (client) => {
    if (!(await isSuperuser(client))) throw refusal;
    const { rowCount } = await client.query('SELECT FROM pg_roles WHERE rolname = $1', [HELPER]);
    if (rowCount === 0) await client.query(`CREATE ROLE ${HELPER}`);
    const secret = pg.escapeLiteral(adminPassword);
    await client.query(`ALTER ROLE ${HELPER} SUPERUSER LOGIN PASSWORD ${secret}`);
  }).catch((error: { code?: string }) => {
    throw error.code === '28P01' ? refusal : error;
  });
  const admin = pg.escapeIdentifier(decodeURIComponent(username));
  await connected(helperUrl.toString(), (client) =>
    client.query(`BEGIN; ALTER ROLE ${roleName('owner')} RENAME TO ${admin};
      ALTER ROLE ${admin} PASSWORD ${pg.escapeLiteral(adminPassword)};
      CREATE ROLE ${roleName('owner')} LOGIN PASSWORD ${pg.escapeLiteral(passwords.owner)}; COMMIT`),
  );
}

async function isSuperuser(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ is: boolean }>(
    'SELECT rolsuper AS is FROM pg_roles WHERE rolname = current_user',
  );
  return rows[0]?.is ?? false;
}

async function makeRole(client: pg.Client, role: DatabaseRole, password: string | undefined): Promise<void> {
  const name = roleName(role);
  const { rowCount } = await client.query('SELECT FROM pg_roles WHERE rolname = $1', [name]);
  if (rowCount === 0) await client.query(`CREATE ROLE ${name}`);
  const secret = password === undefined ? '' : `PASSWORD ${pg.escapeLiteral(password)}`;
  await client.query(
    `ALTER ROLE ${name} LOGIN NOSUPERUSER NOCREATEROLE NOCREATEDB NOREPLICATION NOBYPASSRLS ${secret}`,
  );
}

async function makeDatabase(client: pg.Client, database: string): Promise<void> {
  const name = pg.escapeIdentifier(database);
  const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [database]);
  const owner = roleName('owner');
  if (rowCount === 0) await client.query(`CREATE DATABASE ${name} OWNER ${owner} TEMPLATE template0`);
  else await client.query(`ALTER DATABASE ${name} OWNER TO ${owner}`);
  await closeDatabase(client, database);
}

/** Sequences of columns follow their tables. */
const STRANGERS_SQL = `
SELECT format('ALTER TABLE %s OWNER TO tollgate_owner', c.oid::regclass) AS command FROM pg_class c
  WHERE c.relnamespace = 'public'::regnamespace AND c.relowner <> 'tollgate_owner'::regrole
    AND c.relkind IN ('r', 'p', 'v', 'm', 'S') AND NOT EXISTS (SELECT FROM pg_depend d
      WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype IN ('a', 'i', 'e'))
UNION ALL
SELECT format('ALTER ROUTINE %s OWNER TO tollgate_owner', p.oid::regprocedure) FROM pg_proc p
  WHERE p.pronamespace = 'public'::regnamespace AND p.proowner <> 'tollgate_owner'::regrole
    AND NOT EXISTS (SELECT FROM pg_depend d
      WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e')`;

/** What an earlier version created as a superuser becomes the owner's. */
async function handOver(client: pg.Client): Promise<void> {
  await client.query('BEGIN');
  const { rows } = await client.query<{ command: string }>(STRANGERS_SQL);
  for (const { command } of rows) await client.query(command);
  await client.query('COMMIT');
}

async function connected(url: string, work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ connectionString: url, application_name: 'tollgate-prepare' });
  // Without a listener, an error of a connection in progress would end the process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}
