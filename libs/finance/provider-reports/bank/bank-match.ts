import type pg from 'pg';
import { inTransaction } from '#database/database.js';
import { lockOne } from '#database/locks.js';
import { post } from '#ledger/postings/posting.js';
import { ApiError } from '#platform/errors.js';
import { accountIn } from '../line-postings.js';

/**
 * What a line at the bank is: a payout (whose own posting moved it to the bank), or a transfer that people recorded as a
 * top-up, sent back as a refund, or left in suspense. Transfers stay at psp:manual until the bank's line shows them: then Dr
 * bank / Cr psp:manual. `none`: it is not ours.
 */
export const bankMatchKinds = ['payout', 'topup', 'refund', 'suspense', 'none'] as const;
export type BankMatchKind = (typeof bankMatchKinds)[number];

/** A certain match: amount, currency and day agree, and either the reference does too or nothing else fits. */
interface Match {
  bankLineId: bigint;
  kind: BankMatchKind;
  subject: string;
}

/** The most days that a payout takes to arrive. */
export const PAYOUT_DAYS = 10;

/** Unclassified lines with each word of their reference. Lines whose match was undone are left to people. */
const OPEN_LINES = `open_lines AS MATERIALIZED (
    SELECT l.id, l.line_id, l.booked_on, l.amount_minor, l.currency, l.reference FROM bank_lines l
    WHERE NOT EXISTS (SELECT FROM bank_matches m WHERE m.bank_line_id = l.id)),
  words AS (
    SELECT DISTINCT o.id, w.word FROM open_lines o
    CROSS JOIN LATERAL (SELECT unnest(regexp_split_to_array(o.reference, '[\\s,;:/]+')) AS word
      UNION ALL SELECT o.reference UNION ALL SELECT o.line_id) w WHERE length(w.word) >= 4)`;

const FREE = (kind: BankMatchKind, subject: string): string =>
  `NOT EXISTS (SELECT FROM bank_matches m WHERE m.kind = '${kind}' AND m.subject = ${subject} AND m.undone_at IS NULL)`;

/** Matches by reference. A line that two things name is left to people. */
const BY_REFERENCE = `WITH ${OPEN_LINES}, found AS (
    SELECT o.id, 'topup' AS kind, t.id AS subject FROM words w JOIN open_lines o USING (id)
    JOIN topups t ON t.provider = 'manual' AND t.payment_id = w.word AND t.paid_minor = o.amount_minor AND t.currency = o.currency
    LEFT JOIN suspense_items s ON s.topup_id = t.id WHERE s.id IS NULL AND ${FREE('topup', 't.id')}
    UNION
    SELECT o.id, 'suspense', s.id FROM words w JOIN open_lines o USING (id)
    JOIN suspense_items s ON s.provider = 'manual' AND s.reference = w.word AND s.amount_minor = o.amount_minor
      AND s.currency = o.currency WHERE ${FREE('suspense', 's.id')}
    UNION
    SELECT o.id, 'refund', r.id FROM words w JOIN open_lines o USING (id)
    JOIN topup_refunds r ON r.state = 'succeeded' AND w.word IN (r.provider_refund_id, r.id) AND r.paid_minor = -o.amount_minor
    JOIN topups t ON t.id = r.topup_id AND t.provider = 'manual' AND t.currency = o.currency WHERE ${FREE('refund', 'r.id')}
    UNION
    SELECT o.id, 'payout', p.provider || ':' || p.subject_id FROM words w JOIN open_lines o USING (id)
    JOIN provider_report_lines p ON p.type = 'payout' AND p.subject_id = w.word AND p.currency = o.currency
    LEFT JOIN provider_line_words said ON said.line = p.id
    WHERE coalesce(said.amount_minor, p.amount_minor) = -o.amount_minor AND ${FREE('payout', `p.provider || ':' || p.subject_id`)}),
  counted AS (
    SELECT *, count(*) OVER (PARTITION BY id) AS of_line, count(*) OVER (PARTITION BY kind, subject) AS of_subject FROM found)
  SELECT id AS "bankLineId", kind, subject FROM counted WHERE of_line = 1 AND of_subject = 1 ORDER BY id`;

/** Payouts that the bank does not name, by amount and day, if neither side has another that fits. */
const BY_AMOUNT = `WITH ${OPEN_LINES}, found AS (
    SELECT o.id, p.provider || ':' || p.subject_id AS subject FROM open_lines o
    JOIN provider_report_lines p ON p.type = 'payout' AND p.currency = o.currency
      AND o.booked_on BETWEEN (p.happened_at AT TIME ZONE 'UTC')::date - 1
        AND (p.happened_at AT TIME ZONE 'UTC')::date + ${PAYOUT_DAYS}
    LEFT JOIN provider_line_words said ON said.line = p.id
    WHERE coalesce(said.amount_minor, p.amount_minor) = -o.amount_minor AND ${FREE('payout', `p.provider || ':' || p.subject_id`)}
      AND NOT EXISTS (SELECT FROM provider_report_lines f WHERE f.provider = p.provider AND f.subject_id = p.subject_id
        AND f.type = 'payout_failure')),
  counted AS (
    SELECT *, count(*) OVER (PARTITION BY id) AS of_line, count(*) OVER (PARTITION BY subject) AS of_subject FROM found)
  SELECT id AS "bankLineId", 'payout' AS kind, subject FROM counted WHERE of_line = 1 AND of_subject = 1 ORDER BY id`;

/**
 * Matches what is certain, and posts it. Returns the number of lines. A refused match is skipped with its reason, does not
 * block the others, and is retried next time. Several can run at once.
 * @param house the payment currency, ISO 4217
 */
export async function matchBankLines(pool: pg.Pool, house: string): Promise<number> {
  return inTransaction(pool, async (client) => {
    await lockMatching(client);
    let matched = 0;
    for (const sql of [BY_REFERENCE, BY_AMOUNT]) {
      const { rows } = await client.query<Match>(sql);
      for (const row of rows) if (await tryMatch(client, row, house)) matched += 1;
    }
    return matched;
  });
}

const MOST_ERROR = 500;

/** An error of the database rather than the line: the transaction cannot continue or must be repeated completely. */
const PASSING = /^(08|40|53|57|58|XX)/;

async function tryMatch(client: pg.ClientBase, match: Match, house: string): Promise<boolean> {
  const { bankLineId, kind, subject } = match;
  await client.query('SAVEPOINT bank_match');
  try {
    await insertMatch(client, match, { actor: 'system', note: null, house });
    await client.query('RELEASE SAVEPOINT bank_match');
    return true;
  } catch (error) {
    const { code } = error as { code?: unknown };
    if (!(error instanceof Error) || (typeof code === 'string' && PASSING.test(code))) throw error;
    await client.query('ROLLBACK TO SAVEPOINT bank_match');
    await client.query('RELEASE SAVEPOINT bank_match');
    await client.query(
      `INSERT INTO bank_match_failures (bank_line_id, kind, subject, error) VALUES ($1, $2, $3, $4)
       ON CONFLICT (bank_line_id) DO UPDATE SET kind = excluded.kind, subject = excluded.subject, error = excluded.error,
         failed_at = excluded.failed_at`,
      [bankLineId, kind, subject, error.message.slice(0, MOST_ERROR)],
    );
    return false;
  }
}

/** Matches run one at a time, so that a line and its counterpart are matched once. */
export async function lockMatching(client: pg.ClientBase): Promise<void> {
  await lockOne(client, 'bank-matching');
}

/**
 * Records what a person says a line is. The caller holds the matching lock.
 * @throws ApiError not_found; conflict if the amounts differ or either is already matched
 */
export async function matchBankLine(
  client: pg.ClientBase,
  match: Match,
  by: { actor: string; note: string; house: string },
): Promise<bigint> {
  const line = await readBankLine(client, match.bankLineId);
  if (line.matched) throw new ApiError('conflict', 'The line is already matched. Undo that first.');
  if (match.kind !== 'none') await requireSubject(client, match, line);
  return insertMatch(client, match, by);
}

/** Undoes a match with an exact reversal of its posting. The caller holds the matching lock. @throws ApiError not_found */
export async function undoBankMatch(client: pg.ClientBase, bankLineId: bigint, actor: string): Promise<void> {
  const { rows } = await client.query<{ id: bigint; transactionId: bigint | null }>(
    `SELECT id, transaction_id AS "transactionId" FROM bank_matches
     WHERE bank_line_id = $1 AND undone_at IS NULL FOR UPDATE`,
    [bankLineId],
  );
  const match = rows[0];
  if (!match) throw new ApiError('not_found', 'The line is not matched.');
  const undone = match.transactionId === null ? null : await reverse(client, match.transactionId);
  await client.query(
    `UPDATE bank_matches SET undone_transaction_id = $2, undone_by = $3, undone_at = now() WHERE id = $1`,
    [match.id, undone, actor],
  );
}

async function reverse(client: pg.ClientBase, transactionId: bigint): Promise<bigint> {
  const { rows } = await client.query<{ code: string; amount: bigint; reference: string }>(
    `SELECT a.code, e.amount, t.reference FROM ledger_entries e JOIN ledger_transactions t ON t.id = e.transaction_id
     JOIN ledger_accounts a ON a.id = e.ledger_account_id WHERE e.transaction_id = $1 ORDER BY e.ordinal`,
    [transactionId],
  );
  return post(client, {
    kind: 'bank-transfer-undone',
    reference: `${rows[0]?.reference}:undone`,
    accountId: null,
    linkedId: transactionId,
    movements: rows.map(({ code, amount }) => ({ code, commodity: 'PAY', amount: -amount })),
  });
}

interface LineFacts {
  amountMinor: bigint;
  currency: string;
  bookedOn: string;
  /** How often it was matched. */
  matches: number;
  matched: boolean;
}

async function readBankLine(client: pg.ClientBase, bankLineId: bigint): Promise<LineFacts> {
  const { rows } = await client.query<LineFacts>(
    `SELECT amount_minor AS "amountMinor", currency, booked_on::text AS "bookedOn",
       (SELECT count(*)::int FROM bank_matches WHERE bank_line_id = $1) AS matches,
       EXISTS (SELECT FROM bank_matches WHERE bank_line_id = $1 AND undone_at IS NULL) AS matched
     FROM bank_lines WHERE id = $1`,
    [bankLineId],
  );
  const row = rows[0];
  if (!row) throw new ApiError('not_found', 'There is no such line.');
  return row;
}

/** The effect of each type of subject at the bank. */
const SUBJECTS: Record<Exclude<BankMatchKind, 'none'>, string> = {
  topup: `SELECT t.paid_minor AS amount, t.currency FROM topups t WHERE t.id = $1 AND t.provider = 'manual'
    AND NOT EXISTS (SELECT FROM suspense_items s WHERE s.topup_id = t.id)`,
  suspense: `SELECT amount_minor AS amount, currency FROM suspense_items WHERE id = $1 AND provider = 'manual'`,
  refund: `SELECT -r.paid_minor AS amount, t.currency FROM topup_refunds r JOIN topups t ON t.id = r.topup_id
    WHERE r.id = $1 AND r.state = 'succeeded' AND t.provider = 'manual'`,
  payout: `SELECT -coalesce(said.amount_minor, p.amount_minor) AS amount, currency FROM provider_report_lines p
    LEFT JOIN provider_line_words said ON said.line = p.id WHERE type = 'payout' AND provider || ':' || subject_id = $1`,
};

async function requireSubject(
  client: pg.ClientBase,
  { kind, subject }: Match,
  line: LineFacts,
): Promise<void> {
  const { rows } = await client.query<{ amount: bigint; currency: string; taken: boolean }>(
    `SELECT amount, currency, EXISTS (SELECT FROM bank_matches m WHERE m.kind = $2 AND m.subject = $1
       AND m.undone_at IS NULL) AS taken FROM (${SUBJECTS[kind as keyof typeof SUBJECTS]}) AS subject LIMIT 1`,
    [subject, kind],
  );
  const found = rows[0];
  if (!found) throw new ApiError('not_found', `There is no such ${kind}.`);
  if (found.taken) throw new ApiError('conflict', `The ${kind} is matched with another line.`);
  if (found.amount !== line.amountMinor || found.currency !== line.currency)
    throw new ApiError('conflict', `The line and the ${kind} have different amounts.`);
}

async function insertMatch(
  client: pg.ClientBase,
  { bankLineId, kind, subject }: Match,
  { actor, note, house }: { actor: string; note: string | null; house: string },
): Promise<bigint> {
  const line = await readBankLine(client, bankLineId);
  const transactionId =
    kind === 'payout' || kind === 'none' ? null : await postTransfer(client, bankLineId, { ...line, house });
  const { rows } = await client.query<{ id: bigint }>(
    `INSERT INTO bank_matches (bank_line_id, kind, subject, actor, note, transaction_id) VALUES ($1, $2, $3, $4, $5, $6)
     RETURNING id`,
    [bankLineId, kind, subject, actor, note, transactionId],
  );
  await client.query('DELETE FROM bank_match_failures WHERE bank_line_id = $1', [bankLineId]);
  return (rows[0] as (typeof rows)[number]).id;
}

/**
 * The start of a day, or now if that is earlier: the bank can be a day ahead of UTC, and nothing is posted for a future time.
 */
export async function pastTime(client: pg.ClientBase, day: string): Promise<string> {
  const { rows } = await client.query<{ at: string }>(
    `SELECT to_char(least($1::date::timestamp AT TIME ZONE 'UTC', clock_timestamp()) AT TIME ZONE 'UTC',
       'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at`,
    [day],
  );
  return rows[0]?.at as string;
}

async function postTransfer(
  client: pg.ClientBase,
  bankLineId: bigint,
  { amountMinor, currency, bookedOn, matches, house }: LineFacts & { house: string },
): Promise<bigint> {
  const [bank, psp] = ['bank', 'psp:manual'].map((code) => accountIn(code, { currency, house })) as [
    string,
    string,
  ];
  if (currency !== house) await openAccounts(client, [bank, psp]);
  return post(client, {
    kind: 'bank-transfer',
    reference: `bank-transfer:${bankLineId}:${matches + 1}`,
    accountId: null,
    effectiveAt: await pastTime(client, bookedOn),
    movements: [
      { code: bank, commodity: 'PAY', amount: -amountMinor },
      { code: psp, commodity: 'PAY', amount: amountMinor },
    ],
  });
}

/** Foreign currencies have ledger accounts of their own, from the first posting on. */
async function openAccounts(client: pg.ClientBase, codes: readonly string[]): Promise<void> {
  await client.query(
    `INSERT INTO ledger_accounts (code, commodity, kind) SELECT code, 'PAY', 'asset' FROM unnest($1::text[]) AS a (code)
     ON CONFLICT (code) DO NOTHING`,
    [codes],
  );
}
