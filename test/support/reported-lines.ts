import type pg from 'pg';
import { newId } from '#platform/ids.js';

/** Bank lines: an unmatched one, and one matched with a refund. */
export async function linesAtBank(
  owner: pg.Pool,
  refundId: string,
): Promise<{ bankLineId: string; matchedLineId: string }> {
  const reportId = newId();
  await owner.query(`INSERT INTO bank_accounts (id, mapping, actor) VALUES ('main', '{}', 'x')`);
  await owner.query(
    `INSERT INTO provider_reports (id, provider, bank_account_id, source, holds, actor)
     VALUES ($1, 'bank', 'main', 'csv', 'all', 'x')`,
    [reportId],
  );
  const { rows } = await owner.query<{ id: string }>(
    `INSERT INTO bank_lines (bank_account_id, line_id, report_id, booked_on, amount_minor, currency, reference)
     SELECT 'main', word, $1, '2026-01-02', 1300, 'USD', word FROM unnest($2::text[]) AS word RETURNING id::text`,
    [reportId, [newId(), newId()]],
  );
  const [bankLineId, matchedLineId] = rows.map(({ id }) => id) as [string, string];
  await owner.query(
    `INSERT INTO bank_matches (bank_line_id, kind, subject, actor) VALUES ($1, 'refund', $2, 'x')`,
    [matchedLineId, refundId],
  );
  return { bankLineId, matchedLineId };
}

/** A report line about a payment; about a dispute of it; or about something else with its id. */
export async function lineOfPayment(
  owner: pg.Pool,
  paymentId: string,
  type = 'payment',
  disputeId: string | null = null,
): Promise<string> {
  const lineId = `txn_${newId()}`;
  const { rows } = await owner.query<{ id: string }>(
    `INSERT INTO provider_reports (id, provider, source, holds, actor) VALUES ($1, 'stripe', 'csv', 'all', 'x') RETURNING id`,
    [newId()],
  );
  await owner.query(
    `INSERT INTO provider_report_lines (provider, line_id, type, amount_minor, fee_minor, currency, happened_at, subject_id,
       payment_id, report_id) VALUES ('stripe', $1, $4, 1300, 0, 'USD', now(), coalesce($5, $2), $2, $3)`,
    [lineId, paymentId, rows[0]!.id, type, disputeId],
  );
  return lineId;
}
