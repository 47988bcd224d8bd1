import type pg from 'pg';
import { z } from 'zod';
import type { RangeQuery } from '#ledger/export/range.js';
import type { LedgerBalance } from '#ledger/reports/trial-balance.js';
import { postingKinds } from '#ledger/postings/posting-kinds.js';
import { numberText, type RowOf, timeView, wordView } from '#platform/http/fields.js';
import type { Note } from './checklist-note.js';

export type PeriodState = 'closing' | 'closed' | 'abandoned';

/** One question that is asked before books close. */
export interface ChecklistItem {
  /** Such as `zero-sums` or `control:payments`. */
  readonly id: string;
  readonly title: string;
  readonly state: 'ok' | 'failed' | 'waived';
  /** The number of problems. */
  readonly count: number;
  /** What was found. Periods that were closed before it had codes have only the message. */
  readonly notes?: readonly Note[];
  /** The same in English. */
  readonly message: string;
  /** Whether the period can be closed despite it, with a reason. */
  readonly waivable: boolean;
  /** The control that lists the problems, if there is one. */
  readonly control: string | null;
  readonly reason: string | null;
  /** The waiver of two people that covers it. Its row has their names. */
  readonly waiverId: string | null;
}

/** A waiver used by a close. Periods closed before two people had to agree have only the reason. */
export interface UsedWaiver {
  readonly item: string;
  readonly reason: string;
  readonly count?: number;
  readonly requestedBy?: string;
  readonly approvedBy?: string;
}

export interface Period {
  id: bigint;
  /** Null: from the beginning. */
  startsAt: Date | null;
  /** The first instant after the period. */
  endsAt: Date;
  state: PeriodState;
  /** What a close is doing: a note as JSON. */
  progress: string | null;
  /** Text, to the microsecond. With `endsAt` it allows reading the trial balance again. */
  recordedBefore: string | null;
  checklist: ChecklistItem[];
  /** Hex. */
  balancesHash: string | null;
  abandonedReason: string | null;
  /** The same as a code with its parameters. */
  abandonedNote: Note | null;
  waivers: UsedWaiver[];
  /** Work younger than this counted as in progress, in milliseconds. Null if the period was closed before this was recorded. */
  graceMs: number | null;
  note: string | null;
  requestId: string;
  /** `user:{id}` or `cli`. */
  closedBy: string;
  begunAt: Date;
  endedAt: Date | null;
  latePostings: number;
}

const COLUMNS = `p.id, CASE WHEN isfinite(p.starts_at) THEN p.starts_at END AS "startsAt", p.ends_at AS "endsAt", p.state,
  p.progress, (p.closing_recorded_before AT TIME ZONE 'UTC')::text || '+00' AS "recordedBefore",
  coalesce(p.checklist, '[]') AS checklist, encode(p.balances_hash, 'hex') AS "balancesHash",
  p.abandoned_reason AS "abandonedReason", p.abandoned_note AS "abandonedNote", p.waivers, p.note, p.grace_ms::float8 AS "graceMs", p.request_id AS "requestId", p.closed_by AS "closedBy",
  p.begun_at AS "begunAt", p.ended_at AS "endedAt",
  (SELECT count(*)::int FROM late_postings l WHERE l.period_id = p.id) AS "latePostings"`;

/** Newest first, with one more than the limit if there are more. */
export async function listPeriods(
  database: pg.Pool | pg.ClientBase,
  page: { limit: number; beforeId: bigint | null; state?: PeriodState | undefined },
): Promise<Period[]> {
  const { rows } = await database.query<Period>(
    `SELECT ${COLUMNS} FROM ledger_periods p WHERE p.id < coalesce($2, 9223372036854775807)
       AND ($3::text IS NULL OR p.state = $3) ORDER BY p.id DESC LIMIT $1`,
    [page.limit + 1, page.beforeId, page.state ?? null],
  );
  return rows;
}

export async function findPeriod(database: pg.Pool | pg.ClientBase, id: bigint): Promise<Period | null> {
  const { rows } = await database.query<Period>(`SELECT ${COLUMNS} FROM ledger_periods p WHERE p.id = $1`, [
    id,
  ]);
  return rows[0] ?? null;
}

/**
 * The range of a journal or statement of a closed period: what is effective within it, as known at its close. With the opening
 * balances it equals the stored trial balance. Null if the period is not closed.
 */
export function booksOfPeriod({ state, startsAt, endsAt, recordedBefore }: Period): RangeQuery | null {
  if (state !== 'closed') return null;
  return { by: 'effective', from: startsAt, to: endsAt, recordedBefore };
}

export async function findPeriodOfRequest(
  database: pg.Pool | pg.ClientBase,
  { actor, requestId }: { actor: string; requestId: string },
): Promise<Period | null> {
  const { rows } = await database.query<Period>(
    `SELECT ${COLUMNS} FROM ledger_periods p WHERE p.closed_by = $1 AND p.request_id = $2`,
    [actor, requestId],
  );
  return rows[0] ?? null;
}

/** The stored trial balance of a closed period, by code. */
export async function periodBalances(
  database: pg.Pool | pg.ClientBase,
  periodId: bigint,
): Promise<LedgerBalance[]> {
  const { rows } = await database.query<Omit<LedgerBalance, 'balance'> & { balance: string }>(
    `SELECT a.id AS "ledgerAccountId", a.code, a.kind, a.commodity, a.account_id AS "accountId", b.balance::text AS balance
     FROM ledger_period_balances b JOIN ledger_accounts a ON a.id = b.ledger_account_id WHERE b.period_id = $1
     ORDER BY a.code COLLATE "C"`,
    [periodId],
  );
  return rows.map((row) => ({ ...row, balance: BigInt(row.balance) }));
}

export const lateView = z.object({
  transactionId: numberText,
  kind: wordView(postingKinds),
  reference: z.string(),
  accountId: z.string().nullable(),
  happenedAt: timeView,
  recordedAt: timeView,
});

type LatePosting = RowOf<typeof lateView, Date>;

/** Late postings of a period, oldest first, with one more than the limit if there are more. */
export async function listLatePostings(
  database: pg.Pool | pg.ClientBase,
  page: { periodId: bigint; limit: number; afterId: bigint | null },
): Promise<LatePosting[]> {
  const { rows } = await database.query<LatePosting>(
    `SELECT l.transaction_id AS "transactionId", l.period_id AS "periodId", l.happened_at AS "happenedAt",
       t.recorded_at AS "recordedAt", t.kind, t.reference, t.account_id AS "accountId"
     FROM late_postings l JOIN ledger_transactions t ON t.id = l.transaction_id
     WHERE l.period_id = $1 AND l.transaction_id > $2 ORDER BY l.transaction_id LIMIT $3`,
    [page.periodId, page.afterId ?? 0n, page.limit + 1],
  );
  return rows;
}
