import { z } from 'zod';
import { ownMigrations } from '#database/migration-history.js';
import { OperatorError } from '#platform/errors.js';

/** Of this layout; a reader refuses what is newer. */
export const BACKUP_FORMAT = 1;

export const MANIFEST = 'manifest.json';
/** The last member: without it, the archive is not whole. */
export const ENDING = 'ending.json';

const manifest = z.object({
  format: z.literal(BACKUP_FORMAT),
  /** Of the Tollgate that wrote it. */
  version: z.string(),
  /** When its snapshot of the database was taken. ISO 8601. */
  takenAt: z.string(),
  /** What had been applied, in order. */
  migrations: z.array(z.string()).min(1),
  tables: z.array(z.object({ name: z.string(), columns: z.array(z.string()) })),
  /** The newest block of the hash chain in the snapshot; null where nothing was sealed yet. */
  head: z.object({ number: z.string(), hash: z.string() }).nullable(),
});

const ending = z.object({
  /** Rows of each table that has some. */
  rows: z.record(z.string(), z.number()),
  sequences: z.array(z.object({ name: z.string(), value: z.string(), isCalled: z.boolean() })),
  files: z.number(),
});

/** What a backup says of itself at its start. */
export type BackupManifest = z.infer<typeof manifest>;

/** What a backup says of itself at its end. */
export type BackupEnding = z.infer<typeof ending>;

/** @throws OperatorError for what is no manifest of this layout. */
export function parseManifest(text: string): BackupManifest {
  return parsed(
    manifest,
    text,
    'It is no backup of this version of Tollgate: use the version that wrote it.',
  );
}

/** The migrations of a backup that this version does not have, in words; undefined where it has all of them. */
export function unknownMigrations({ migrations }: BackupManifest): string | undefined {
  const own = ownMigrations();
  const [first, ...others] = migrations.filter((name, index) => own[index]?.name !== name);
  if (first === undefined) return undefined;
  return others.length === 0 ? first : `${first} and ${others.length} more`;
}

/** @throws OperatorError for what is none. */
export function parseEnding(text: string): BackupEnding {
  return parsed(ending, text, 'The end of the backup cannot be read.');
}

function parsed<T>(schema: z.ZodType<T>, text: string, otherwise: string): T {
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    throw new OperatorError(otherwise);
  }
}

/** The member with part `number` of a table's rows. */
export function tableMember(table: string, number: number): string {
  return `database/${table}/${number}`;
}

export function fileMember(key: string): string {
  return `files/${key}`;
}

export function secretMember(name: string): string {
  return `secrets/${name}`;
}

export type Member =
  | { kind: 'manifest' | 'ending' }
  | { kind: 'table'; table: string }
  | { kind: 'file'; key: string }
  | { kind: 'secret'; name: string };

/** What a member is. @throws OperatorError for a name of none. */
export function memberOf(name: string): Member {
  if (name === MANIFEST) return { kind: 'manifest' };
  if (name === ENDING) return { kind: 'ending' };
  const [, place, rest = ''] = /^(database|files|secrets)\/(.+)$/.exec(name) ?? [];
  if (place === 'database') return { kind: 'table', table: rest.replace(/\/\d+$/, '') };
  if (place === 'files') return { kind: 'file', key: rest };
  if (place === 'secrets' && /^[A-Za-z][A-Za-z._-]*$/.test(rest)) return { kind: 'secret', name: rest };
  throw new OperatorError(
    `The backup has a member that is none of ours: ${JSON.stringify(name.slice(0, 100))}.`,
  );
}
