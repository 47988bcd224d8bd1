import type pg from 'pg';
import { z } from 'zod';
import { chargeReference } from '#ledger/charges/charge.js';
import type { Commodity } from '#ledger/reports/trial-balance.js';
import { postingKinds } from '#ledger/postings/posting-kinds.js';
import { amountView, numberText, type RowOf, timeView, wordView } from '#platform/http/fields.js';

/** Head of a ledger transaction. Times are PostgreSQL's text until they are shown. */
export const transactionHead = z.object({
  id: numberText,
  kind: wordView(postingKinds),
  reference: z.string().describe('Unique, so that nothing is posted twice.'),
  accountId: z.string().nullable(),
  chargeId: z.string().nullable(),
  effectiveAt: timeView.describe('When the recorded fact happened.'),
  recordedAt: timeView,
});

type TransactionHead = RowOf<typeof transactionHead>;

interface TransactionEntry {
  ordinal: number;
  ledgerAccountId: bigint;
  code: string;
  commodity: Commodity;
  /** Positive is a credit; units of the commodity. */
  amount: bigint;
  model: string | null;
  group: string | null;
  channel: string | null;
  keyId: string | null;
}

/** How another transaction is related: reversed by this one, reverses this one, or belongs to the same charge. */
type Relation = 'reverses' | 'reversed_by' | 'same_charge';

/** A charge with the fields that its postings need. */
export const transactionCharge = z.object({
  id: z.string(),
  state: z.string(),
  amount: amountView,
  settled: amountView.nullable(),
  released: amountView.nullable(),
  taskId: z.string().nullable(),
});

type TransactionCharge = RowOf<typeof transactionCharge>;

export interface LedgerTransaction extends TransactionHead {
  entries: TransactionEntry[];
  linked: (TransactionHead & { relation: Relation })[];
  charge: TransactionCharge | null;
  /** Whether it records a fact of a period that was already closed. */
  late: { periodId: bigint; happenedAt: string } | null;
  /** The block of the hash chain that seals it. Null if not yet sealed. */
  block: { number: bigint; hash: string; sealedAt: string } | null;
}

const HEAD = `t.id, t.kind, t.reference, t.account_id AS "accountId", t.charge_id AS "chargeId",
  t.effective_at::text AS "effectiveAt", t.recorded_at::text AS "recordedAt"`;

/** More than anyone reads of one transaction. */
const LINKED_SHOWN = 100;

/** A ledger transaction with everything related to it, or null. Times are in the client's time zone. */
export async function readTransaction(client: pg.ClientBase, id: bigint): Promise<LedgerTransaction | null> {
  const { rows } = await client.query<TransactionHead & { linkedId: bigint | null }>(
    `SELECT ${HEAD}, t.linked_id AS "linkedId" FROM ledger_transactions t WHERE t.id = $1`,
    [id],
  );
  const row = rows[0];
  if (!row) return null;
  const { linkedId, ...head } = row;
  return {
    ...head,
    entries: await readEntries(client, id),
    linked: await readLinked(client, { ...head, linkedId }),
    charge: head.chargeId === null ? null : await readCharge(client, head.chargeId),
    late: await readLate(client, id),
    block: await readBlock(client, id),
  };
}

async function readEntries(client: pg.ClientBase, id: bigint): Promise<TransactionEntry[]> {
  const { rows } = await client.query<TransactionEntry>(
    `SELECT e.ordinal::int, e.ledger_account_id AS "ledgerAccountId", coalesce(a.code, '') AS code, e.commodity,
       e.amount, e.model_id AS model, e.group_name AS "group", e.channel_id AS channel, e.key_id AS "keyId"
     FROM ledger_entries e LEFT JOIN ledger_accounts a ON a.id = e.ledger_account_id
     WHERE e.transaction_id = $1 ORDER BY e.ordinal`,
    [id],
  );
  return rows;
}

/** Transactions of a charge are found by their unique references, because an index on the charge would slow every posting. */
async function readLinked(
  client: pg.ClientBase,
  { id, linkedId, chargeId }: TransactionHead & { linkedId: bigint | null },
): Promise<LedgerTransaction['linked']> {
  const references =
    chargeId === null ? [] : [chargeReference(chargeId, 'hold'), chargeReference(chargeId, 'resolve')];
  const { rows } = await client.query<TransactionHead & { relation: Relation }>(
    `SELECT DISTINCT ON (t.id) ${HEAD}, found.relation FROM (
       SELECT $2::bigint AS id, 'reverses' AS relation
       UNION ALL SELECT t.id, 'reversed_by' FROM ledger_transactions t WHERE t.linked_id = $1
       UNION ALL SELECT t.id, 'same_charge' FROM ledger_transactions t WHERE t.reference = ANY ($3::text[])
       UNION ALL SELECT r.transaction_id, 'same_charge' FROM charge_refunds r WHERE r.charge_id = $4) AS found
     JOIN ledger_transactions t ON t.id = found.id
     WHERE t.id <> $1 ORDER BY t.id, found.relation LIMIT ${LINKED_SHOWN}`,
    [id, linkedId, references, chargeId],
  );
  return rows;
}

async function readCharge(client: pg.ClientBase, chargeId: string): Promise<TransactionCharge | null> {
  const { rows } = await client.query<TransactionCharge>(
    `SELECT id, state, amount, settled, released, task_id AS "taskId" FROM charges WHERE id = $1`,
    [chargeId],
  );
  return rows[0] ?? null;
}

async function readLate(client: pg.ClientBase, id: bigint): Promise<LedgerTransaction['late']> {
  const { rows } = await client.query<{ periodId: bigint; happenedAt: string }>(
    `SELECT period_id AS "periodId", happened_at::text AS "happenedAt" FROM late_postings WHERE transaction_id = $1`,
    [id],
  );
  return rows[0] ?? null;
}

async function readBlock(client: pg.ClientBase, id: bigint): Promise<LedgerTransaction['block']> {
  const { rows } = await client.query<{ number: bigint; hash: string; sealedAt: string }>(
    `SELECT number, encode(hash, 'hex') AS hash, sealed_at::text AS "sealedAt" FROM ledger_chain_blocks
     WHERE first_id <= $1 AND last_id >= $1`,
    [id],
  );
  return rows[0] ?? null;
}
