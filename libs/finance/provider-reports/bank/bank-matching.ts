import type pg from 'pg';
import type { PageAfter } from '../../listing.js';
import { absentState } from '../overdue.js';
import { type BankMatchKind, PAYOUT_DAYS } from './bank-match.js';
import type { ReportQuery } from '../report-query.js';

/** States that a person must look at. */
export const FAULTY_BANK = [
  /** No file covers its time, and no later file will. For the end of a period: not covered yet. */
  'not_covered',
  /** The match is clear, but its posting was refused. */
  'refused',
  'missing_here',
  'missing_there',
  'differs',
  'twice',
] as const;

/** Lines at the bank against payouts and transfers, in both directions. */
export const bankStates = [
  'matched',
  /** Someone classified it as not ours. */
  'set_aside',
  /** The bank's files do not reach that far yet. */
  'waiting',
  ...FAULTY_BANK,
] as const;
export type BankState = (typeof bankStates)[number];

export interface BankQuery extends ReportQuery<BankState> {
  bankAccountId: string | null;
}

export interface BankItem {
  kind: 'line' | Exclude<BankMatchKind, 'none'>;
  /** The ID of the bank line, or of what should be there: a payout, top-up, refund or suspense item. */
  id: string;
  state: BankState;
  at: string;
  amountMinor: bigint;
  currency: string;
  bankAccountId: string | null;
  /** The bank's text, or our reference. */
  reference: string;
  /** What the line was matched with, or what its reference names. */
  counterpart: { kind: BankMatchKind; subject: string } | null;
  /** Why its posting was refused. */
  refusal: string | null;
  transactionIds: bigint[];
}

const ABSENT = absentState({
  covers: 'v.covers',
  until: 'v.until',
  at: 'e.at',
  since: `e.at - interval '1 day'`,
  due: 'e.at + e.patience',
  end: '$1::timestamptz',
});

/**
 * $1: the end of the requested period, or null. An expected payment can be on any account of its currency, so a time is covered
 * only if the files of all of them cover it.
 */
const ITEMS = `WITH
  accounts AS (
    SELECT a.id, a.mapping -> 'currency' ->> 'fixed' AS currency, max(upper(r.covers)) AS until,
      coalesce(range_agg(r.covers) FILTER (WHERE r.covers IS NOT NULL), '{}') AS covers
    FROM bank_accounts a LEFT JOIN provider_reports r ON r.bank_account_id = a.id GROUP BY a.id),
  currencies AS (SELECT DISTINCT currency FROM (SELECT currency FROM topups WHERE provider = 'manual'
    UNION ALL SELECT currency FROM suspense_items UNION ALL SELECT currency FROM provider_report_lines WHERE type = 'payout') AS c),
  coverage AS (
    SELECT c.currency, range_intersect_agg(a.covers) AS covers, CASE WHEN bool_and(a.until IS NOT NULL) THEN min(a.until) END AS until
    FROM currencies c JOIN accounts a ON coalesce(a.currency, c.currency) = c.currency GROUP BY 1),
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
    SELECT 'payout' AS kind, p.provider || ':' || p.subject_id AS id, min(p.happened_at) AS at, -min(coalesce(said.amount_minor, p.amount_minor)) AS amount,
      min(p.currency) AS currency, p.subject_id AS reference, interval '${PAYOUT_DAYS} days' AS patience,
      (SELECT array_agg(x.transaction_id) FROM provider_line_postings x WHERE x.line = min(p.id) AND x.kind = 'payout') AS txs
    FROM provider_report_lines p LEFT JOIN provider_line_words said ON said.line = p.id
    WHERE p.type = 'payout' AND coalesce(said.amount_minor, p.amount_minor) <> 0
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
      f.error AS refusal,
      CASE WHEN l.match_kind = 'none' THEN 'set_aside' WHEN l.match_kind IS NOT NULL THEN 'matched'
        WHEN f.error IS NOT NULL THEN 'refused' WHEN c.id IS NULL THEN 'missing_here' WHEN c.taken THEN 'twice' ELSE 'differs' END AS state
    FROM lines l LEFT JOIN clues c USING (id)
    LEFT JOIN bank_match_failures f ON f.bank_line_id = l.id AND l.match_kind IS NULL
    UNION ALL
    SELECT e.kind, e.id, e.at, e.amount, e.currency, NULL, e.reference, NULL, NULL, e.txs, NULL,
      ${ABSENT}
    FROM expected e LEFT JOIN coverage v USING (currency)
    WHERE NOT EXISTS (SELECT FROM matches m WHERE m.kind = e.kind AND m.subject = e.id))`;

const ITEM = `kind, id, state, at::text, amount AS "amountMinor", currency, bank_account_id AS "bankAccountId", reference, refusal,
  coalesce(txs, '{}') AS "transactionIds",
  CASE WHEN match_kind IS NOT NULL THEN json_build_object('kind', match_kind, 'subject', coalesce(subject, '')) END AS counterpart`;

/** Oldest first. With an account, only its lines. The client's time zone must be UTC. */
export async function listBankItems(
  client: pg.ClientBase,
  { bankAccountId, from, to, states, before = null }: BankQuery,
  { limit, after }: PageAfter<'at' | 'kind' | 'id'>,
): Promise<BankItem[]> {
  const { rows } = await client.query<BankItem>(
    `${ITEMS} SELECT ${ITEM} FROM items
     WHERE ($2::text IS NULL OR bank_account_id = $2)
       AND ($3::timestamptz IS NULL OR at >= $3::timestamptz) AND ($4::timestamptz IS NULL OR at < $4::timestamptz)
       AND ($5::text[] IS NULL OR state = ANY($5::text[])) AND ($1::timestamptz IS NULL OR at < $1::timestamptz)
       AND ($6::timestamptz IS NULL OR (at, kind, id) > ($6::timestamptz, $7::text, $8::text))
     ORDER BY items.at, kind, id LIMIT $9`,
    [before, bankAccountId, from, to, states, after?.at, after?.kind, after?.id, limit],
  );
  return rows;
}

export async function findFaultyBankItems(
  client: pg.ClientBase,
  { before, limit }: { before: string | null; limit: number },
): Promise<{ count: number; items: BankItem[] }> {
  const { rows } = await client.query<BankItem & { count: number }>(
    `${ITEMS} SELECT ${ITEM}, (count(*) OVER ())::int AS count FROM items
     WHERE state = ANY($3::text[])
       AND ($1::timestamptz IS NULL OR at < $1::timestamptz) ORDER BY items.at, kind, id LIMIT $2`,
    [before, limit, FAULTY_BANK],
  );
  return { count: rows[0]?.count ?? 0, items: rows };
}

/** A bank account whose files ended too long ago, although money should have moved since. */
export interface OverdueFiles {
  /** Null if there is no account at all. */
  bankAccountId: string | null;
  /** Null if no file of it was ever imported. PostgreSQL text. */
  until: string | null;
  /** The first expected item. */
  firstAt: string;
}

/** The client's time zone must be UTC. */
export async function findOverdueFiles(client: pg.ClientBase, overdueMs: number): Promise<OverdueFiles[]> {
  const { rows } = await client.query<OverdueFiles>(
    `${ITEMS}, known AS (SELECT id, currency, until FROM accounts UNION ALL
       SELECT NULL, NULL, NULL WHERE NOT EXISTS (SELECT FROM accounts))
     SELECT k.id AS "bankAccountId", k.until::text, first.at::text AS "firstAt" FROM known k
     CROSS JOIN LATERAL (SELECT min(e.at) AS at FROM expected e
       WHERE e.currency = coalesce(k.currency, e.currency) AND e.at >= coalesce(k.until, '-infinity')
         AND ($1::timestamptz IS NULL OR e.at < $1::timestamptz)) AS first
     WHERE first.at IS NOT NULL AND coalesce(k.until, first.at) < now() - $2::float8 * interval '1 millisecond'
     ORDER BY 1`,
    [null, overdueMs],
  );
  return rows;
}
