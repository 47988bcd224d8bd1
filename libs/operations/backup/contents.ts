import { z } from 'zod';
import { ownMigrations } from '#database/migration-history.js';
import { OperatorError } from '#platform/errors.js';

/** The version of this layout. A reader refuses newer ones. */
export const BACKUP_FORMAT = 1;

export const MANIFEST = 'manifest.json';
/** The last member. Without it, the archive is incomplete. */
export const ENDING = 'ending.json';

const manifest = z.object({
  format: z.literal(BACKUP_FORMAT),
  /** The Tollgate version that wrote it. */
  version: z.string(),
  /** The time of its database snapshot. ISO 8601. */
  takenAt: z.string(),
  /** The applied migrations, in order. */
  migrations: z.array(z.string()).min(1),
  tables: z.array(z.object({ name: z.string(), columns: z.array(z.string()) })),
  /** The newest block of the hash chain in the snapshot; null if nothing was sealed yet. */
  head: z.object({ number: z.string(), hash: z.string() }).nullable(),
});

const ending = z.object({
  /** The number of rows of each table that has any. */
  rows: z.record(z.string(), z.number()),
  sequences: z.array(z.object({ name: z.string(), value: z.string(), isCalled: z.boolean() })),
  files: z.number(),
});

/** The description at the start of a backup. */
export type BackupManifest = z.infer<typeof manifest>;

/** The description at the end of a backup. */
export type BackupEnding = z.infer<typeof ending>;

/** @throws OperatorError if it is no manifest of this layout */
export function parseManifest(text: string): BackupManifest {
  return parsed(
    manifest,
    text,
    'This is not a backup of this version of Tollgate: use the version that wrote it.',
  );
}

/** The migrations of a backup that this version lacks, in words; undefined if it has all of them. */
export function unknownMigrations({ migrations }: BackupManifest): string | undefined {
  const own = ownMigrations();
  const [first, ...others] = migrations.filter((name, index) => own[index]?.name !== name);
  if (first === undefined) return undefined;
  return others.length === 0 ? first : `${first} and ${others.length} more`;
}

/** @throws OperatorError if it is invalid */
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

/** The kind of a member. @throws OperatorError for an unknown name */
export function memberOf(name: string): Member {
  if (name === MANIFEST) return { kind: 'manifest' };
  if (name === ENDING) return { kind: 'ending' };
  const [, place, rest = ''] = /^(database|files|secrets)\/(.+)$/.exec(name) ?? [];
  if (place === 'database') return { kind: 'table', table: rest.replace(/\/\d+$/, '') };
  if (place === 'files') return { kind: 'file', key: rest };
  if (place === 'secrets' && /^[A-Za-z][A-Za-z._-]*$/.test(rest)) return { kind: 'secret', name: rest };
  throw new OperatorError(`The backup contains an unknown file: ${JSON.stringify(name.slice(0, 100))}.`);
}
