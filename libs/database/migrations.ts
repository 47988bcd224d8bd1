import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { OperatorError } from '#platform/errors.js';
import { lockConnection } from './locks.js';
import { roleName, type DatabaseRole } from './roles.js';

export interface MigrateOptions {
  /** A login that owns the database, no superuser's; without prepared roles it must be allowed to create them. */
  ownerUrl: string;
  /** Passwords to give to the programs' roles; a role that is left out keeps the one it has. */
  passwords?: Partial<Record<Exclude<DatabaseRole, 'owner'>, string>>;
  /** Where the `NNNN_name.sql` files lie; the folder beside this module by default. */
  folder?: string;
  /** Only that many of them: the state that a backup was taken in. */
  count?: number;
}

interface Migration {
  name: string;
  sql: string;
  sha256: string;
}

/**
 * Brings the database to the state of this code: every new file runs once, in order, each in its own transaction,
 * under a lock, so that several programs may try at once.
 * @returns the names of the files that were applied now.
 * @throws OperatorError when an applied file was edited, or the database is newer than this code.
 */
export async function migrate(options: MigrateOptions): Promise<string[]> {
  const migrations = readMigrations(options.folder ?? defaultFolder()).slice(0, options.count);
  const client = new pg.Client({ connectionString: options.ownerUrl, application_name: 'tollgate-migrate' });
  // The failing query itself reports a lost connection; without a listener the event would end the process.
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

/** What the owner makes, its functions too, has the owner's rights: those of a superuser would be rights over the server. */
async function refuseSuperuser(client: pg.Client): Promise<void> {
  const { rowCount } = await client.query('SELECT FROM pg_roles WHERE rolname = current_user AND rolsuper');
  if (rowCount === 0) return;
  throw new OperatorError(
    'The owner of the database must not be a superuser: put that login into ADMIN_DATABASE_URL, and one as tollgate_owner with a password of its own into OWNER_DATABASE_URL.',
  );
}

/**
 * The migrations of this code that a database has not had yet; none is applied.
 * @throws OperatorError when the database is newer than this code, or an applied file was edited.
 */
export async function pendingMigrations(database: pg.Pool | pg.ClientBase): Promise<string[]> {
  const migrations = readMigrations(defaultFolder());
  const { rows } = await database.query<{ name: string; sha256: string }>(
    'SELECT name, sha256 FROM schema_migrations ORDER BY name',
  );
  refuseStrangeHistory(rows, migrations);
  return migrations.slice(rows.length).map(({ name }) => name);
}

function defaultFolder(): string {
  return fileURLToPath(new URL('migrations', import.meta.url));
}

function readMigrations(folder: string): Migration[] {
  const names = readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .sort();
  names.forEach((name, index) => {
    const isNumbered = /^\d{4}_/.test(name) && name.slice(0, 4) !== names[index - 1]?.slice(0, 4);
    if (!isNumbered) {
      throw new OperatorError(
        `The migration ${name} is out of order: its name must begin with four digits of its own.`,
      );
    }
  });
  return names.map((name) => {
    const sql = readFileSync(`${folder}/${name}`, 'utf8');
    return { name, sql, sha256: createHash('sha256').update(sql).digest('hex') };
  });
}

async function applyAll(client: pg.Client, migrations: Migration[]): Promise<string[]> {
  await client.query(`CREATE TABLE IF NOT EXISTS schema_migrations (
    name        text PRIMARY KEY,
    sha256      text NOT NULL,
    applied_at  timestamptz NOT NULL DEFAULT now()
  )`);
  const { rows } = await client.query<{ name: string; sha256: string }>(
    'SELECT name, sha256 FROM schema_migrations ORDER BY name',
  );
  refuseStrangeHistory(rows, migrations);
  const pending = migrations.slice(rows.length);
  for (const migration of pending) await apply(client, migration);
  return pending.map((migration) => migration.name);
}

function refuseStrangeHistory(applied: { name: string; sha256: string }[], migrations: Migration[]): void {
  applied.forEach(({ name, sha256 }, index) => {
    const known = migrations[index];
    if (known?.name !== name) {
      const last = migrations.at(-1)?.name ?? 'none';
      throw new OperatorError(
        `The database is newer than this Tollgate: it has the migration ${name}, and the last one known here is ${last}. Run the newer version.`,
      );
    }
    if (known.sha256 !== sha256) {
      throw new OperatorError(
        `The migration ${name} was edited after it had been applied: restore it, and put the change into a new file.`,
      );
    }
  });
}

async function apply(client: pg.Client, migration: Migration): Promise<void> {
  try {
    await client.query('BEGIN');
    await client.query(migration.sql);
    await client.query('INSERT INTO schema_migrations (name, sha256) VALUES ($1, $2)', [
      migration.name,
      migration.sha256,
    ]);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw new Error(`The migration ${migration.name} failed: ${(error as Error).message}`, { cause: error });
  }
}

async function setPasswords(client: pg.Client, passwords: Record<string, string | undefined>): Promise<void> {
  for (const [role, password] of Object.entries(passwords)) {
    if (!password) continue;
    const name = client.escapeIdentifier(roleName(role as DatabaseRole));
    await client.query(`ALTER ROLE ${name} LOGIN PASSWORD ${client.escapeLiteral(password)}`);
  }
}
