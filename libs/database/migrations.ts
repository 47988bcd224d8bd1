import pg from 'pg';
import { setTimeout as pause } from 'node:timers/promises';
import { OperatorError } from '#platform/errors.js';
import { isRerunnable } from './database.js';
import { lockConnection } from './locks.js';
import { lackingMigrations, type Migration, ownMigrations } from './migration-history.js';
import { roleName, type DatabaseRole } from './roles.js';

const NO_TABLE = '42P01';

const MAX_ATTEMPTS = 5;
const PAUSE_MS = 500;

export interface MigrateOptions {
  /** A login that owns the database, not a superuser's. If the roles do not exist, it must be allowed to create them. */
  ownerUrl: string;
  /** Passwords for the programs' roles. An omitted role keeps its password. */
  passwords?: Partial<Record<Exclude<DatabaseRole, 'owner'>, string>>;
  /** The folder of the `NNNN_name.sql` files. By default, the one beside this module. */
  folder?: string;
  /** Only this many of them: the state of a backup. */
  count?: number;
}

/**
 * Brings the database to the state of this code: every new file runs once, in order, in its own transaction and under a
 * lock, so that several programs may try at once.
 * @returns the files applied now, none if a newer version has applied them and more
 * @throws OperatorError if an applied file was edited, or the database is too new for this code
 */
export async function migrate(options: MigrateOptions): Promise<string[]> {
  const migrations = ownMigrations(options.folder).slice(0, options.count);
  const client = new pg.Client({ connectionString: options.ownerUrl, application_name: 'tollgate-migrate' });
  // The failing query itself reports a lost connection. Without a listener, the event would end the process.
  client.on('error', () => undefined);
  await client.connect();
  try {
    await lockConnection(client, 'migration');
    await refuseSuperuser(client);
    const applied = await applyAll(client, migrations);
    await setPasswords(client, options.passwords ?? {});
    return applied;
  } finally {
    // The end of the session releases the lock.
    await client.end().catch(() => undefined);
  }
}

/** Whatever the owner creates, functions too, has the owner's rights. A superuser's would be rights over the server. */
async function refuseSuperuser(client: pg.Client): Promise<void> {
  const { rowCount } = await client.query('SELECT FROM pg_roles WHERE rolname = current_user AND rolsuper');
  if (rowCount === 0) return;
  throw new OperatorError(
    'The owner of the database must not be a superuser. Put the superuser login in ADMIN_DATABASE_URL, and a login as tollgate_owner with its own password in OWNER_DATABASE_URL.',
  );
}

/**
 * The migrations of this code that a database lacks. Applies none.
 * @throws OperatorError if the database is too new for this code, or an applied file was edited
 */
export async function pendingMigrations(database: pg.Pool | pg.ClientBase): Promise<string[]> {
  return (await lackingMigrations(database, ownMigrations())).map(({ name }) => name);
}

/** @throws OperatorError unless programs of this code can use the database */
export async function requireSchema(database: pg.Pool): Promise<void> {
  const [first, ...others] = await pendingMigrations(database).catch((error: { code?: string }) => {
    if (error.code !== NO_TABLE) throw error;
    throw new OperatorError('The database has no schema yet: run migrate first.');
  });
  if (first === undefined) return;
  const which = others.length === 0 ? first : `${first} and ${others.length} more`;
  throw new OperatorError(
    `The database is older than this Tollgate: it lacks the migration ${which}. Run migrate of this version first.`,
  );
}

async function applyAll(client: pg.Client, migrations: Migration[]): Promise<string[]> {
  await client.query(`CREATE TABLE IF NOT EXISTS schema_migrations (
    name        text PRIMARY KEY,
    sha256      text NOT NULL,
    applied_at  timestamptz NOT NULL DEFAULT now()
  )`);
  await addNeeds(client);
  const pending = await lackingMigrations(client, migrations);
  for (const migration of pending) await apply(client, migration);
  return pending.map((migration) => migration.name);
}

/** Only if it is missing, because its lock would wait for a running backup. */
async function addNeeds(client: pg.Client): Promise<void> {
  const { rowCount } = await client.query(
    `SELECT FROM pg_attribute WHERE attrelid = 'schema_migrations'::regclass AND attname = 'needs'`,
  );
  if (rowCount === 0) await client.query('ALTER TABLE schema_migrations ADD COLUMN needs text');
}

/** Running programs may lock the same tables in another order. If the server ends the migration for that, it is repeated. */
async function apply(client: pg.Client, migration: Migration): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await applyOnce(client, migration);
    } catch (error) {
      await client.query('ROLLBACK').catch(() => undefined);
      if (attempt < MAX_ATTEMPTS && isRerunnable(error)) await pause(attempt * PAUSE_MS);
      else
        throw new Error(`The migration ${migration.name} failed: ${(error as Error).message}`, {
          cause: error,
        });
    }
  }
}

async function applyOnce(client: pg.Client, { name, sql, sha256, needs }: Migration): Promise<void> {
  await client.query('BEGIN');
  await client.query(sql);
  await client.query('INSERT INTO schema_migrations (name, sha256, needs) VALUES ($1, $2, $3)', [
    name,
    sha256,
    needs,
  ]);
  await client.query('COMMIT');
}

async function setPasswords(client: pg.Client, passwords: Record<string, string | undefined>): Promise<void> {
  for (const [role, password] of Object.entries(passwords)) {
    if (!password) continue;
    const name = client.escapeIdentifier(roleName(role as DatabaseRole));
    await client.query(`ALTER ROLE ${name} LOGIN PASSWORD ${client.escapeLiteral(password)}`);
  }
}
