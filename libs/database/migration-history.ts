import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import { OperatorError } from '#platform/errors.js';
import { createHash } from 'node:crypto';

export interface Migration {
  name: string;
  sql: string;
  sha256: string;
  /** The number of the oldest migration that a program must know to work on once this one is applied; null: any may. */
  needs: string | null;
}

type AppliedMigration = Omit<Migration, 'sql'>;

/** Says that a migration takes away what versions that do not know an earlier one still use. */
const NEEDS = /^-- Needs programs that know (\d{4})\.$/m;

/** The column came later than the table. */
const APPLIED_SQL = `
SELECT name, sha256, to_jsonb(applied) ->> 'needs' AS needs FROM schema_migrations AS applied ORDER BY name`;

/** Those of this code. */
export function ownMigrations(folder?: string): Migration[] {
  const from = folder ?? fileURLToPath(new URL('migrations', import.meta.url));
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
 * What a database lacks of some migrations. It may have had later ones, of a newer version that runs beside or that was
 * rolled back from, unless one of them took away what this code uses.
 * @throws OperatorError when it did, or when the histories differ otherwise.
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
