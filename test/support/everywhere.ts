import type pg from 'pg';

/** The tables that contain a text in any column of any row, including inside JSON and bytes. */
export async function tablesWith(owner: pg.Pool, text: string): Promise<string[]> {
  const { rows: tables } = await owner.query<{ name: string }>(
    `SELECT c.oid::regclass::text AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE c.relkind IN ('r', 'p') AND n.nspname = 'public' ORDER BY 1`,
  );
  const found: string[] = [];
  for (const { name } of tables) {
    const { rowCount } = await owner.query(
      `SELECT FROM ${name} AS line WHERE strpos(lower(line::text), lower($1)) > 0
         OR strpos(line::text, encode(convert_to($1, 'UTF8'), 'hex')) > 0 LIMIT 1`,
      [text],
    );
    if (rowCount) found.push(name);
  }
  return found;
}
