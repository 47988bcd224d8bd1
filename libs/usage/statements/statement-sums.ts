import type pg from 'pg';
import { RECORDING_APART } from '#ledger/postings/horizon.js';

/** Postings of a kind: charges and their refunds by key and model. */
export interface Sum {
  kind: string;
  keyId: string | null;
  keyName: string | null;
  model: string | null;
  /** Each charge counts its hold once. */
  fromHeld: number;
  amount: bigint;
}

export const CHARGED = 'settle';
export const REFUNDED = 'charge_refund';

interface Summed {
  /** The account's ledger accounts. */
  ledgerIds: bigint[];
  mainId: bigint;
  heldId: bigint;
  /** Null: work of all keys, and everything else. */
  keyId: string | null;
  /** Recorded at or after, and before. */
  from: string;
  to: string;
}

/** Postings of a chunk: few enough to be summed in memory. */
const CHUNK = 20_000;

/** What an account posted in a time, from its own entries alone, in chunks of ids. */
export async function readSums(client: pg.ClientBase, asked: Summed): Promise<Sum[]> {
  const { first, end } = await boundsOf(client, asked);
  const parts: Part[] = [];
  for (let id = first; id < end;) {
    const next = await chunkEnd(client, asked.mainId, { first: id, end });
    parts.push(...(await sumsBetween(client, asked, { first: id, end: next })));
    id = next;
  }
  return together(client, parts);
}

interface Ids {
  first: bigint;
  end: bigint;
}

async function boundsOf(client: pg.ClientBase, { ledgerIds, from, to }: Summed): Promise<Ids> {
  const { rows } = await client.query<Ids>(
    `SELECT first_transaction_since($1::bigint[], $2::timestamptz - ${RECORDING_APART}) AS first,
       first_transaction_since($1::bigint[], $3::timestamptz + ${RECORDING_APART}) AS end`,
    [ledgerIds, from, to],
  );
  return rows[0]!;
}

async function chunkEnd(client: pg.ClientBase, mainId: bigint, { first, end }: Ids): Promise<bigint> {
  const { rows } = await client.query<{ id: bigint }>(
    `SELECT transaction_id AS id FROM ledger_entries WHERE ledger_account_id = $1 AND transaction_id > $2 AND transaction_id < $3
     ORDER BY transaction_id OFFSET $4 LIMIT 1`,
    [mainId, first, end, CHUNK],
  );
  return rows[0]?.id ?? end;
}

type Part = Omit<Sum, 'keyName'>;

/** A hold only moves credits from one of the account's ledger accounts to another: its transaction is not read. */
async function sumsBetween(
  client: pg.ClientBase,
  { ledgerIds, heldId, keyId, from, to }: Summed,
  { first, end }: Ids,
): Promise<Part[]> {
  const { rows } = await client.query<Part>(
    `WITH moved AS MATERIALIZED (
       SELECT transaction_id, sum(amount) AS amount, count(*) FILTER (WHERE ledger_account_id = $5) AS from_held
       FROM ledger_entries WHERE ledger_account_id = ANY ($1::bigint[]) AND transaction_id >= $6 AND transaction_id < $7
       GROUP BY transaction_id HAVING sum(amount) <> 0 OR min(amount) FILTER (WHERE ledger_account_id = $5) < 0)
     SELECT t.kind, c.key_id AS "keyId", c.model_id AS model, sum(m.amount)::bigint AS amount, sum(m.from_held)::int AS "fromHeld"
     FROM moved m JOIN ledger_transactions t ON t.id = m.transaction_id
       LEFT JOIN charges c ON c.id = CASE WHEN t.kind IN ('${CHARGED}', '${REFUNDED}') THEN t.charge_id END
     WHERE t.id >= $6 AND t.id < $7 AND t.recorded_at >= $2::timestamptz AND t.recorded_at < $3::timestamptz AND ($4::text IS NULL OR c.key_id = $4)
     GROUP BY t.kind, c.key_id, c.model_id`,
    [ledgerIds, from, to, keyId, heldId, first, end],
  );
  return rows;
}

/** In the order of a statement. */
async function together(client: pg.ClientBase, parts: readonly Part[]): Promise<Sum[]> {
  const { rows } = await client.query<Sum>(
    `SELECT p.kind, p.key_id AS "keyId", k.name AS "keyName", p.model_id AS model, sum(p.from_held)::int AS "fromHeld",
       sum(p.amount)::bigint AS amount
     FROM unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::bigint[]) AS p (kind, key_id, model_id, from_held, amount)
       LEFT JOIN api_keys k ON k.id = p.key_id
     GROUP BY p.kind, p.key_id, k.name, p.model_id ORDER BY p.kind, p.model_id, p.key_id`,
    [
      parts.map(({ kind }) => kind),
      parts.map(({ keyId }) => keyId),
      parts.map(({ model }) => model),
      parts.map(({ fromHeld }) => fromHeld),
      parts.map(({ amount }) => amount),
    ],
  );
  return rows;
}
