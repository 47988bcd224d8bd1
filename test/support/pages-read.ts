import type pg from 'pg';

interface Explained {
  Plan: { 'Shared Hit Blocks': number; 'Shared Read Blocks': number };
}

/**
 * The pages that the statements of this work read, as EXPLAIN counts them: other than its time, they are the same on a busy
 * machine. Small tables are read by their indexes too, as large ones are.
 */
export async function pagesRead(
  pool: pg.Pool,
  work: (counted: pg.Pool) => Promise<unknown>,
): Promise<number> {
  const asked: { text: string; values: unknown[] }[] = [];
  const query = (asking: string | pg.QueryConfig, given: unknown[] = []) => {
    const { text, values = given } = typeof asking === 'string' ? { text: asking } : asking;
    asked.push({ text, values });
    return pool.query(text, values);
  };
  await work({ query } as unknown as pg.Pool);
  const client = await pool.connect();
  try {
    await client.query('BEGIN; SET LOCAL enable_seqscan = off');
    let pages = 0;
    for (const { text, values } of asked) pages += await pagesOf(client, text, values);
    return pages;
  } finally {
    await client.query('ROLLBACK');
    client.release();
  }
}

async function pagesOf(client: pg.ClientBase, text: string, values: unknown[]): Promise<number> {
  const { rows } = await client.query<{ 'QUERY PLAN': Explained[] }>(
    `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`,
    values,
  );
  const { Plan: plan } = rows[0]!['QUERY PLAN'][0]!;
  return plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
}
