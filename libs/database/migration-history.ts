import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type pg from 'pg';
import { OperatorError } from '#platform/errors.js';
import { codeFolder } from '#platform/places.js';
import { createHash } from 'node:crypto';

export interface Migration {
  name: string;
  sql: string;
  sha256: string;
  /** The oldest migration that a program must know to work after this one; null: any program works. */
  needs: string | null;
}

type AppliedMigration = Omit<Migration, 'sql'>;

/** Says that a migration removes what versions without an earlier migration still use. */
const NEEDS = /^-- Needs programs that know (\d{4})\.$/m;

/** The column was added after the table. */
const APPLIED_SQL = `
SELECT name, sha256, to_jsonb(applied) ->> 'needs' AS needs FROM schema_migrations AS applied ORDER BY name`;

/** The migrations of this code. */
export function ownMigrations(folder?: string): Migration[] {
  const from = folder ?? join(codeFolder, 'libs/database/migrations');
  const names = readdirSync(from)
    .filter((name) => name.endsWith('.sql'))
    .sort();
  names.forEach((name, index) => {
    const isNumbered = /^\d{4}_/.test(name) && numberOf(name) !== numberOf(names[index - 1] ?? '');
    if (!isNumbered) {
      throw new OperatorError(
        `The migration ${name} is out of order: its name must start with four digits that no other migration has.`,
      );
    }
  });
  return names.map((name) => readMigration(from, name));
}

function readMigration(folder: string, name: string): Migration {
  const sql = readFileSync(`${folder}/${name}`, 'utf8');
  const needs = NEEDS.exec(sql)?.[1] ?? null;
  return { name, sql, sha256: createHash('sha256').update(sql).digest('hex'), needs };
}

/**
 * The migrations that a database lacks. It may have later ones, from a newer version that runs beside this one or was
 * rolled back, unless one of them removed what this code uses.
 * @throws OperatorError if it did, or if the histories differ otherwise
 */
export async function lackingMigrations(
  database: pg.Pool | pg.ClientBase,
  migrations: readonly Migration[],
): Promise<Migration[]> {
  const { rows } = await database.query<AppliedMigration>(APPLIED_SQL);
  const last = migrations.at(-1)?.name ?? 'none';
  rows.forEach((applied, index) => {
    const known = migrations[index];
    if (known?.name === applied.name) return refuseEdited(known, applied);
    const isLater = known === undefined && applied.name > last;
    if (isLater && (applied.needs ?? '') <= numberOf(last)) return;
    throw new OperatorError(
      `The database is newer than this Tollgate: it has the migration ${applied.name}, but the last one known here is ${last}. Run the newer version.`,
    );
  });
  return migrations.slice(rows.length);
}

function refuseEdited(known: Migration, { name, sha256 }: AppliedMigration): void {
  if (known.sha256 === sha256) return;
  throw new OperatorError(
    `The migration ${name} was edited after it was applied. Restore it, and put the change in a new file.`,
  );
}

function numberOf(name: string): string {
  return name.slice(0, 4);
}
