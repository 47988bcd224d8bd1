import pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { currentHead } from '#ledger/chain/chain.js';
import { version } from '#platform/version.js';
import type { ArchiveWriter } from './archive.js';
import {
  BACKUP_FORMAT,
  type BackupEnding,
  type BackupManifest,
  ENDING,
  MANIFEST,
  tableMember,
} from './contents.js';

/** A member must state its length first, so rows are collected up to this size. */
const PART_BYTES = 4 * 1024 * 1024;

/**
 * Every table of ours except the history of migrations, which the restore writes itself, and unlogged tables, which are
 * lost in a crash anyway.
 */
const TABLES_SQL = `
SELECT c.relname AS name, array_agg(a.attname::text ORDER BY a.attnum) AS columns
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
 WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND c.relpersistence = 'p'
   AND c.relname <> 'schema_migrations' AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
 GROUP BY c.relname ORDER BY c.relname`;

const SEQUENCES_SQL = `SELECT sequencename AS name FROM pg_sequences WHERE schemaname = 'public' ORDER BY 1`;

/** Opens the one snapshot of a backup. */
export async function openSnapshot(client: pg.Client): Promise<BackupManifest> {
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  // Rows must read the same with any server settings.
  await client.query(`SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0;
    SET LOCAL TimeZone = 'UTC'; SET LOCAL DateStyle = 'ISO, YMD'; SET LOCAL IntervalStyle = 'postgres';
    SET LOCAL extra_float_digits = 3; SET LOCAL client_encoding = 'UTF8'`);
  const { rows: tables } = await client.query<{ name: string; columns: string[] }>(TABLES_SQL);
  const { rows: migrations } = await client.query<{ name: string }>(
    'SELECT name FROM schema_migrations ORDER BY name',
  );
  const { rows: clock } = await client.query<{ now: Date }>('SELECT now()');
  const head = await currentHead(client);
  return {
    format: BACKUP_FORMAT,
    version,
    takenAt: clock[0]!.now.toISOString(),
    migrations: migrations.map(({ name }) => name),
    tables,
    head: head && { number: head.number.toString(), hash: head.hash },
  };
}

/** Writes the manifest and every table of the snapshot. @returns the number of rows of each table */
export async function dumpTables(
  client: pg.Client,
  manifest: BackupManifest,
  { archive, onBytes }: { archive: ArchiveWriter; onBytes: (bytes: number) => void },
): Promise<BackupEnding['rows']> {
  await archive.add(MANIFEST, JSON.stringify(manifest, null, 2));
  const rows: BackupEnding['rows'] = {};
  for (const table of manifest.tables) {
    const copy = client.query(copyTo(`COPY ${target(table)} TO STDOUT`));
    let number = 0;
    for await (const part of inParts(copy)) {
      await archive.add(tableMember(table.name, number), part);
      onBytes(part.length);
      number += 1;
    }
    if (copy.rowCount > 0) rows[table.name] = copy.rowCount;
  }
  return rows;
}

/** The name of a table with its columns, for COPY. */
export function target({ name, columns }: BackupManifest['tables'][number]): string {
  return `public.${pg.escapeIdentifier(name)} (${columns.map((column) => pg.escapeIdentifier(column)).join(', ')})`;
}

async function* inParts(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let part: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    // The driver may overwrite these bytes with its next message.
    part.push(Buffer.from(chunk));
    bytes += chunk.length;
    if (bytes < PART_BYTES) continue;
    yield Buffer.concat(part);
    part = [];
    bytes = 0;
  }
  if (bytes > 0) yield Buffer.concat(part);
}

/** Writes the ending. Sequences belong to no snapshot. Read last, they are past every row of it. */
export async function dumpEnding(
  client: pg.Client,
  archive: ArchiveWriter,
  counted: Pick<BackupEnding, 'rows' | 'files'>,
): Promise<void> {
  const { rows: names } = await client.query<{ name: string }>(SEQUENCES_SQL);
  const sequences: BackupEnding['sequences'] = [];
  for (const { name } of names) {
    const { rows } = await client.query<{ value: string; isCalled: boolean }>(
      `SELECT last_value::text AS value, is_called AS "isCalled" FROM public.${pg.escapeIdentifier(name)}`,
    );
    sequences.push({ name, ...rows[0]! });
  }
  await archive.add(ENDING, JSON.stringify({ ...counted, sequences }));
}
