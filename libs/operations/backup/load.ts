import { once } from 'node:events';
import type { Readable } from 'node:stream';
import pg from 'pg';
import { type CopyStreamQuery, from as copyFrom } from 'pg-copy-streams';
import { OperatorError } from '#platform/errors.js';
import type { BackupEnding, BackupManifest } from './contents.js';
import { target } from './dump.js';

/**
 * Loads the rows of a backup into a database with its schema, as a superuser. Triggers and references are off
 * meanwhile, because the rows were complete and in order when they were copied.
 */
export class TableLoader {
  private readonly rows: BackupEnding['rows'] = {};
  private current: { table: string; copy: CopyStreamQuery; failed: Promise<never> } | undefined;

  private constructor(
    private readonly client: pg.Client,
    private readonly manifest: BackupManifest,
  ) {}

  /** Starts with empty tables, because migrations insert rows of their own into some. */
  static async open(client: pg.Client, manifest: BackupManifest): Promise<TableLoader> {
    await client.query(`SET session_replication_role = replica; SET statement_timeout = 0; SET TimeZone = 'UTC';
      SET DateStyle = 'ISO, YMD'; SET IntervalStyle = 'postgres'`);
    await client.query('BEGIN');
    const names = manifest.tables.map(({ name }) => `public.${pg.escapeIdentifier(name)}`);
    await client.query(`TRUNCATE ${names.join(', ')}`);
    return new TableLoader(client, manifest);
  }

  /** Loads the next part of a table's rows. */
  async add(table: string, part: Readable): Promise<void> {
    if (this.current?.table !== table) {
      await this.endTable();
      this.current = this.begin(table);
    }
    const { copy, failed } = this.current;
    // A pipeline would leave its listeners on the copy for each of a table's many parts.
    for await (const chunk of part) {
      if (!copy.write(chunk)) await Promise.race([once(copy, 'drain'), failed]);
    }
  }

  /** Ends the load. @throws OperatorError if rows are missing */
  async finish({ rows, sequences }: BackupEnding): Promise<void> {
    await this.endTable();
    for (const table of new Set([...Object.keys(rows), ...Object.keys(this.rows)])) {
      const [expected = 0, found = 0] = [rows[table], this.rows[table]];
      if (expected === found) continue;
      throw new OperatorError(`The table ${table} should have ${expected} rows, and ${found} were restored.`);
    }
    for (const { name, value, isCalled } of sequences) {
      const sequence = `public.${pg.escapeIdentifier(name)}`;
      await this.client.query('SELECT setval($1::regclass, $2::bigint, $3)', [sequence, value, isCalled]);
    }
    await this.client.query('COMMIT');
    await this.client.query('ANALYZE');
  }

  private begin(table: string): NonNullable<TableLoader['current']> {
    const known = this.manifest.tables.find(({ name }) => name === table);
    if (!known) throw new OperatorError(`The backup has rows of a table that it does not list: ${table}.`);
    const copy = this.client.query(copyFrom(`COPY ${target(known)} FROM STDIN`));
    const failed = once(copy, 'error').then(([error]) => Promise.reject(error as Error));
    // Between two parts, nobody waits for it.
    failed.catch(() => undefined);
    return { table, copy, failed };
  }

  private async endTable(): Promise<void> {
    if (!this.current) return;
    const { table, copy, failed } = this.current;
    this.current = undefined;
    copy.end();
    await Promise.race([once(copy, 'finish'), failed]);
    this.rows[table] = copy.rowCount;
  }
}
