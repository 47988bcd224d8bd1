import type pg from 'pg';
import { type BankMatchKind, PAYOUT_DAYS } from './bank-match.js';

/** Lines at the bank against payouts and transfers, in both directions. */
export type BankState =
  | 'matched'
  /** Somebody said that it is nothing of ours. */
  | 'set_aside'
  /** No file of a bank covers its time yet. */
  | 'waiting'
  | 'missing_here'
  | 'missing_there'
  | 'differs'
  | 'twice';

export type BankItemKind = 'line' | Exclude<BankMatchKind, 'none'>;

/** States that a person must look at. */
export const FAULTY_BANK = [
  'missing_here',
  'missing_there',
  'differs',
  'twice',
] as const satisfies BankState[];

export interface BankQuery {
  bankAccountId: string | null;
  from: string | null;
  to: string | null;
  /** Null: whatever the state. */
  states: readonly BankState[] | null;
}

export interface BankItem {
  kind: BankItemKind;
  /** Of the line at the bank, or of what should be there: a payout, top-up, refund or suspense item. */
  id: string;
  state: BankState;
  at: string;
  amountMinor: bigint;
  currency: string;
  bankAccountId: string | null;
  /** The bank's text, or our reference. */
  reference: string;
  /** What a line was matched with, or what its reference names. */
  counterpart: { kind: BankMatchKind; subject: string } | null;
  transactionIds: bigint[];
}

const ITEMS = `WITH
  coverage AS (SELECT range_agg(covers) AS covers FROM provider_reports WHERE provider = 'bank' AND covers IS NOT NULL),
  matches AS (SELECT * FROM bank_matches WHERE undone_at IS NULL),
  lines AS (
    SELECT l.*, m.kind AS match_kind, m.subject, m.transaction_id FROM bank_lines l
    LEFT JOIN matches m ON m.bank_line_id = l.id),
  words AS (
    SELECT DISTINCT l.id, w.word FROM lines l
    CROSS JOIN LATERAL (SELECT unnest(regexp_split_to_array(l.reference, '[\\s,;:/]+')) AS word
      UNION ALL SELECT l.reference UNION ALL SELECT l.line_id) w
    WHERE l.match_kind IS NULL AND length(w.word) >= 4),
  named AS (
    SELECT w.id, 'topup' AS kind, t.id AS subject, t.paid_minor AS amount, t.currency FROM words w
    JOIN topups t ON t.provider = 'manual' AND t.payment_id = w.word
    UNION
    SELECT w.id, 'payout', p.provider || ':' || p.subject_id, -p.amount_minor, p.currency FROM words w
    JOIN provider_report_lines p ON p.subject_id = w.word AND p.type = 'payout'),
  clues AS (
    SELECT DISTINCT ON (n.id) n.id, n.kind, n.subject, m.id IS NOT NULL AS taken FROM named n
    LEFT JOIN matches m ON m.kind = n.kind AND m.subject = n.subject ORDER BY n.id, m.id NULLS LAST, n.subject),
  expected AS (
    SELECT 'payout' AS kind, p.provider || ':' || p.subject_id AS id, min(p.happened_at) AS at, -min(p.amount_minor) AS amount,
      min(p.currency) AS currency, p.subject_id AS reference, interval '${PAYOUT_DAYS} days' AS patience,
      (SELECT array_agg(x.transaction_id) FROM provider_line_postings x WHERE x.line = min(p.id) AND x.kind = 'payout') AS txs
    FROM provider_report_lines p WHERE p.type = 'payout' AND p.amount_minor <> 0
      AND NOT EXISTS (SELECT FROM provider_report_lines f WHERE f.provider = p.provider AND f.subject_id = p.subject_id
        AND f.type = 'payout_failure') AND p.provider <> 'sandbox'
    GROUP BY p.provider, p.subject_id
    UNION ALL
    SELECT 'topup', t.id, t.recorded_at, t.paid_minor, t.currency, t.payment_id, interval '1 day', ARRAY[t.transaction_id]
    FROM topups t LEFT JOIN suspense_items s ON s.topup_id = t.id WHERE t.provider = 'manual' AND s.id IS NULL
    UNION ALL
    SELECT 'suspense', id, created_at, amount_minor, currency, reference, interval '1 day', ARRAY[transaction_id]
    FROM suspense_items WHERE provider = 'manual' AND state <> 'returned'
    UNION ALL
    SELECT 'refund', r.id, r.ended_at, -r.paid_minor, t.currency, coalesce(r.provider_refund_id, r.id), interval '5 days',
      ARRAY[r.ended_transaction_id]
    FROM topup_refunds r JOIN topups t ON t.id = r.topup_id WHERE r.state = 'succeeded' AND t.provider = 'manual'),
  items AS (
    SELECT 'line' AS kind, l.id::text AS id, l.booked_on::timestamp AT TIME ZONE 'UTC' AS at, l.amount_minor AS amount,
      l.currency, l.bank_account_id, l.reference, coalesce(l.match_kind, c.kind) AS match_kind,
      coalesce(l.subject, c.subject) AS subject, array_remove(ARRAY[l.transaction_id], NULL) AS txs,
      CASE WHEN l.match_kind = 'none' THEN 'set_aside' WHEN l.match_kind IS NOT NULL THEN 'matched'
        WHEN c.id IS NULL THEN 'missing_here' WHEN c.taken THEN 'twice' ELSE 'differs' END AS state
    FROM lines l LEFT JOIN clues c USING (id)
    UNION ALL
    SELECT e.kind, e.id, e.at, e.amount, e.currency, NULL, e.reference, NULL, NULL, e.txs,
      CASE WHEN v.covers @> tstzrange(e.at - interval '1 day', e.at + e.patience, '[]') THEN 'missing_there'
        ELSE 'waiting' END
    FROM expected e CROSS JOIN coverage v
    WHERE NOT EXISTS (SELECT FROM matches m WHERE m.kind = e.kind AND m.subject = e.id))`;

const ITEM = `kind, id, state, at::text, amount::text, currency, bank_account_id AS "bankAccountId", reference,
  match_kind AS "matchKind", subject, txs::text[]`;

interface ItemRow {
  kind: BankItemKind;
  id: string;
  state: BankState;
  at: string;
  amount: string;
  currency: string;
  bankAccountId: string | null;
  reference: string;
  matchKind: BankMatchKind | null;
  subject: string | null;
  txs: string[] | null;
}

export type BankKey = readonly [at: string, kind: string, id: string];

/** Items, oldest first, after the key. With an account, only lines of it. The client's times must be of UTC. */
export async function listBankItems(
  client: pg.ClientBase,
  { bankAccountId, from, to, states }: BankQuery,
  page: { limit: number; after: BankKey | null },
): Promise<BankItem[]> {
  const { rows } = await client.query<ItemRow>(
    `${ITEMS} SELECT ${ITEM} FROM items
     WHERE ($1::text IS NULL OR bank_account_id = $1)
       AND ($2::timestamptz IS NULL OR at >= $2::timestamptz) AND ($3::timestamptz IS NULL OR at < $3::timestamptz)
       AND ($4::text[] IS NULL OR state = ANY($4::text[]))
       AND ($5::timestamptz IS NULL OR (at, kind, id) > ($5::timestamptz, $6::text, $7::text))
     ORDER BY items.at, kind, id LIMIT $8`,
    [bankAccountId, from, to, states, ...(page.after ?? [null, null, null]), page.limit],
  );
  return rows.map(toItem);
}

export async function findFaultyBankItems(
  client: pg.ClientBase,
  { before, limit }: { before: string | null; limit: number },
): Promise<{ count: number; items: BankItem[] }> {
  const { rows } = await client.query<ItemRow & { count: number }>(
    `${ITEMS} SELECT ${ITEM}, (count(*) OVER ())::int AS count FROM items
     WHERE state = ANY($3::text[])
       AND ($1::timestamptz IS NULL OR at < $1::timestamptz) ORDER BY items.at, kind, id LIMIT $2`,
    [before, limit, FAULTY_BANK],
  );
  return { count: rows[0]?.count ?? 0, items: rows.map(toItem) };
}

function toItem({ amount, matchKind, subject, txs, ...row }: ItemRow): BankItem {
  return {
    ...row,
    amountMinor: BigInt(amount),
    counterpart: matchKind === null ? null : { kind: matchKind, subject: subject ?? '' },
    transactionIds: (txs ?? []).map(BigInt),
  };
}
