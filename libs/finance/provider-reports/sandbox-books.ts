import type pg from 'pg';
import { inTransaction } from '#database/database.js';
import { creditTopup, type TopupRequest, type TopupResult } from '#ledger/postings/topup.js';
import {
  addCounts,
  beginReport,
  chunksOf,
  finishReport,
  type ReportImport,
  insertLines,
} from './report.import.js';
import type { ReportLine } from './report-line.js';

/**
 * Credits a simulated payment, and records it in the sandbox's own books, from which its report is made. Repeating it changes
 * nothing. @throws TopupConflict, UnknownAccount
 */
export function playTopup(
  pool: pg.Pool,
  topup: Omit<TopupRequest, 'provider' | 'orderId'>,
): Promise<TopupResult> {
  return inTransaction(pool, async (client) => {
    await client.query(
      `INSERT INTO sandbox_payments (order_id, payment_id, amount_minor, currency) VALUES ($1, $1, $2, $3)
       ON CONFLICT DO NOTHING`,
      [topup.paymentId, topup.paidMinor, topup.currency],
    );
    return creditTopup(client, { ...topup, provider: 'sandbox' });
  });
}

/** Payments commit quickly: one this old is visible. */
const SETTLED = '1 minute';

/** Imports the sandbox's own books since the last import, as a provider's report. */
export async function importSandbox(pool: pg.Pool, actor: string): Promise<ReportImport> {
  return inTransaction(pool, async (client) => {
    const reportId = await beginReport(client, {
      provider: 'sandbox',
      source: 'table',
      content: 'all',
      sha256: null,
      actor,
    });
    const { since, to } = await readWindow(client);
    const counts = { lines: 0, added: 0, changed: 0 };
    for await (const chunk of chunksOf(readLines(client, since))) {
      addCounts(counts, await insertLines(client, { reportId, provider: 'sandbox' }, chunk));
    }
    const covers = await finishReport(client, reportId, { ...counts, covers: { from: since, to } });
    return { reportId, covers, ...counts };
  });
}

/** From the end of the last import, with an overlap, up to what is final now. */
async function readWindow(client: pg.ClientBase): Promise<{ since: string; to: string }> {
  const { rows } = await client.query<{ since: string; to: string }>(
    `SELECT coalesce((SELECT max(upper(covers)) - $1::interval FROM provider_reports
         WHERE provider = 'sandbox' AND covers IS NOT NULL), '-infinity')::text AS since,
       (clock_timestamp() - $1::interval)::text AS to`,
    [SETTLED],
  );
  return rows[0] as { since: string; to: string };
}

const PAGE = 1_000;

interface BookRow {
  at: string;
  id: string;
  paymentId: string;
  type: 'payment' | 'refund';
  amountMinor: bigint;
  currency: string;
  happenedAt: string;
}

async function* readLines(client: pg.ClientBase, since: string): AsyncGenerator<ReportLine> {
  let after: Pick<BookRow, 'at' | 'id'> = { at: since, id: '' };
  for (;;) {
    const { rows } = await client.query<BookRow>(
      `SELECT at::text, id, payment_id AS "paymentId", type, amount AS "amountMinor", currency,
         to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS "happenedAt"
       FROM (
         SELECT paid_at AS at, payment_id AS id, payment_id, 'payment' AS type, amount_minor AS amount, currency
         FROM sandbox_payments
         UNION ALL
         SELECT refunded_at, 'sandbox-' || refund_id, payment_id, 'refund', -amount_minor, currency FROM sandbox_refunds) AS book
       WHERE (at, id) > ($1::timestamptz, $2) ORDER BY at, id LIMIT ${PAGE}`,
      [after.at, after.id],
    );
    for (const row of rows) yield lineOf(row);
    const last = rows.at(-1);
    if (!last || rows.length < PAGE) return;
    after = last;
  }
}

function lineOf({ id, at: _, ...row }: BookRow): ReportLine {
  return {
    ...row,
    lineId: id,
    subjectId: id,
    feeMinor: 0n,
    availableOn: null,
    payoutId: null,
    description: '',
  };
}
