import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { closeDatabase, prepareDatabase } from '#database/prepare-database.js';
import { databaseUrlOf } from '#database/roles.js';
import { OperatorError } from '#platform/errors.js';

/** The logins that a restore needs, both to the same database. */
export interface RestoreLogins {
  /** A superuser's login. */
  adminUrl: string;
  ownerUrl: string;
}

const MAINTENANCE = 'postgres';
/** PostgreSQL's code for a database with connections. */
const IN_USE = '55006';

/** A database beside the programs' own. It replaces that one or is dropped. */
export class ScratchDatabase {
  private constructor(
    private readonly logins: RestoreLogins,
    readonly name: string,
  ) {}

  static async make(logins: RestoreLogins): Promise<ScratchDatabase> {
    const name = `${nameOf(logins.ownerUrl)}_restored_${randomBytes(4).toString('hex')}`;
    const owner = decodeURIComponent(new URL(logins.ownerUrl).password);
    const adminUrl = databaseUrlOf(logins.adminUrl, MAINTENANCE);
    await prepareDatabase({ adminUrl, database: name, passwords: { owner } });
    return new ScratchDatabase(logins, name);
  }

  get adminUrl(): string {
    return databaseUrlOf(this.logins.adminUrl, this.name);
  }

  get ownerUrl(): string {
    return databaseUrlOf(this.logins.ownerUrl, this.name);
  }

  async drop(): Promise<void> {
    await onServer(this.logins, (client) =>
      client.query(`DROP DATABASE IF EXISTS ${pg.escapeIdentifier(this.name)} WITH (FORCE)`),
    );
  }

  /**
   * Takes the name of the programs' database. If it is killed meanwhile, nothing is lost: run the restore again.
   * @throws OperatorError if that database is in use, or is not empty
   */
  async takePlace(): Promise<void> {
    const target = nameOf(this.logins.ownerUrl);
    await onServer(this.logins, async (client) => {
      if (await exists(client, target)) await this.removeEmpty(client, target);
      await rename(client, this.name, target);
      await closeDatabase(client, target);
    });
  }

  /** Under a name that no program knows, nothing is written to it between the check and the end. */
  private async removeEmpty(client: pg.Client, target: string): Promise<void> {
    // Not named like a restored one: if this is killed, it is all that the installation had.
    const aside = `${target}_aside_${randomBytes(4).toString('hex')}`;
    await rename(client, target, aside);
    let isEmpty = false;
    try {
      isEmpty = !(await hasTables(this.logins, aside));
    } finally {
      if (!isEmpty) await rename(client, aside, target);
    }
    if (!isEmpty) throw notEmpty(target);
    await client.query(`DROP DATABASE ${pg.escapeIdentifier(aside)}`);
  }
}

/** @throws OperatorError if the programs' database has tables of ours */
export async function requireEmpty(logins: RestoreLogins): Promise<void> {
  const target = nameOf(logins.ownerUrl);
  const isThere = await onServer(logins, (client) => exists(client, target));
  if (isThere && (await hasTables(logins, target))) throw notEmpty(target);
}

async function exists(client: pg.Client, database: string): Promise<boolean> {
  const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [database]);
  return rowCount === 1;
}

function hasTables({ adminUrl }: RestoreLogins, database: string): Promise<boolean> {
  return connected(databaseUrlOf(adminUrl, database), async (client) => {
    const { rowCount } = await client.query(
      `SELECT FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' LIMIT 1`,
    );
    return rowCount === 1;
  });
}

async function rename(client: pg.Client, from: string, to: string): Promise<void> {
  try {
    await client.query(`ALTER DATABASE ${pg.escapeIdentifier(from)} RENAME TO ${pg.escapeIdentifier(to)}`);
  } catch (error) {
    if ((error as { code?: string }).code !== IN_USE) throw error;
    throw new OperatorError(`The database ${from} is in use: stop the programs, and restore again.`);
  }
}

function notEmpty(database: string): OperatorError {
  return new OperatorError(
    `The database ${database} is not empty, and a restore never overwrites data. Rename or drop it first, or choose another name.`,
  );
}

function nameOf(url: string): string {
  return decodeURIComponent(new URL(url).pathname.slice(1));
}

function onServer<T>(logins: RestoreLogins, work: (client: pg.Client) => Promise<T>): Promise<T> {
  return connected(databaseUrlOf(logins.adminUrl, MAINTENANCE), work);
}

export async function connected<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, application_name: 'tollgate-backup' });
  // The failing query itself reports a lost connection. Without a listener, the event would end the process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}
