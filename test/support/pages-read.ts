import type pg from 'pg';

interface Explained {
  Plan: { 'Shared Hit Blocks': number; 'Shared Read Blocks': number };
}

interface Asked {
  text: string;
  values: unknown[];
}

/**
 * The pages that the statements of this work read, as EXPLAIN counts them: other than its time, they are the same on a busy
 * machine. Small tables are read by their indexes too, as large ones are. The work runs on one connection.
 */
export async function pagesRead(
  pool: pg.Pool,
  work: (counted: pg.Pool) => Promise<unknown>,
): Promise<number> {
  const client = await pool.connect();
  try {
    const asked = await askedBy(client, work);
    await client.query('BEGIN; SET LOCAL enable_seqscan = off');
    let pages = 0;
    for (const each of asked) pages += await pagesOf(client, each);
    return pages;
  } finally {
    await client.query('ROLLBACK');
    client.release();
  }
}

/** The statements that read. A cursor counts as a whole where it is declared. */
async function askedBy(
  client: pg.ClientBase,
  work: (counted: pg.Pool) => Promise<unknown>,
): Promise<Asked[]> {
  const asked: Asked[] = [];
  const query = (asking: string | pg.QueryConfig, given: unknown[] = []) => {
    const { text, values = given } = typeof asking === 'string' ? { text: asking } : asking;
    if (/^\s*(SELECT|WITH|DECLARE)\b/.test(text)) asked.push({ text, values });
    return client.query(text, values);
  };
  const counted = { query, connect: () => Promise.resolve({ query, release: () => undefined }) };
  await work(counted as unknown as pg.Pool);
  return asked;
}

async function pagesOf(client: pg.ClientBase, { text, values }: Asked): Promise<number> {
  const { rows } = await client.query<{ 'QUERY PLAN': Explained[] }>(
    `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`,
    values,
  );
  const { Plan: plan } = rows[0]!['QUERY PLAN'][0]!;
  return plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
}
