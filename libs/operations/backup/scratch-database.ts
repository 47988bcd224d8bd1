import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { closeDatabase, prepareDatabase } from '#database/prepare-database.js';
import { databaseUrlOf } from '#database/roles.js';
import { OperatorError } from '#platform/errors.js';

/** The logins that a restore needs, both to the same database. */
export interface RestoreLogins {
  /** A superuser's. */
  adminUrl: string;
  /** That of the role that owns the database. */
  ownerUrl: string;
}

const MAINTENANCE = 'postgres';

/** A database beside the one of the programs, which takes its place or goes. */
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

  /** Takes the name of the programs' database. @throws OperatorError where that one is not empty. */
  async takePlace(): Promise<void> {
    await requireEmpty(this.logins);
    const target = nameOf(this.logins.ownerUrl);
    await onServer(this.logins, async (client) => {
      // Killed between the two, nothing is lost: the restore is run again.
      await client.query(`DROP DATABASE IF EXISTS ${pg.escapeIdentifier(target)} WITH (FORCE)`);
      await client.query(
        `ALTER DATABASE ${pg.escapeIdentifier(this.name)} RENAME TO ${pg.escapeIdentifier(target)}`,
      );
      await closeDatabase(client, target);
    });
  }
}

/** @throws OperatorError where the database of the programs has tables of ours. */
export async function requireEmpty(logins: RestoreLogins): Promise<void> {
  const target = nameOf(logins.ownerUrl);
  const exists = await onServer(logins, async (client) => {
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [target]);
    return rowCount === 1;
  });
  if (!exists) return;
  const isUsed = await connected(databaseUrlOf(logins.adminUrl, target), async (client) => {
    const { rowCount } = await client.query(
      `SELECT FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' LIMIT 1`,
    );
    return rowCount === 1;
  });
  if (!isUsed) return;
  throw new OperatorError(
    `The database ${target} is not empty, and a restore replaces nothing: rename or drop it first, or name another one.`,
  );
}

function nameOf(url: string): string {
  return decodeURIComponent(new URL(url).pathname.slice(1));
}

function onServer<T>(logins: RestoreLogins, work: (client: pg.Client) => Promise<T>): Promise<T> {
  return connected(databaseUrlOf(logins.adminUrl, MAINTENANCE), work);
}

/** Runs work on a connection of its own. */
export async function connected<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, application_name: 'tollgate-backup' });
  // The failing query itself reports a lost connection; without a listener the event would end the process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}
