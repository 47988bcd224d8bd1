import type pg from 'pg';
import { ApiError } from '#platform/errors.js';
import type { LineType, ReportingProvider } from './report-line.js';

export interface LineKey {
  provider: ReportingProvider;
  lineId: string;
}

export interface StoredLine {
  id: bigint;
  provider: ReportingProvider;
  lineId: string;
  type: LineType;
  amountMinor: bigint;
  feeMinor: bigint;
  netMinor: bigint;
  currency: string;
  happenedAt: Date;
  availableOn: string | null;
  subjectId: string;
  paymentId: string | null;
  payoutId: string | null;
  description: string;
  reportId: string;
  postings: { kind: string; transactionId: string }[];
  changes: { reportId: string; recordedAt: string; content: Record<string, unknown> }[];
  acceptances: { reason: string; requestedBy: string; approvedBy: string | null; recordedAt: string }[];
}

const LINE = `SELECT l.id, l.provider, l.line_id AS "lineId", l.type, l.amount_minor AS "amountMinor", l.fee_minor AS "feeMinor",
         l.net_minor AS "netMinor", l.currency, l.happened_at AS "happenedAt", l.available_on::text AS "availableOn",
         l.subject_id AS "subjectId", l.payment_id AS "paymentId", p.payout_id AS "payoutId", l.description,
         l.report_id AS "reportId",
         (SELECT coalesce(json_agg(json_build_object('kind', x.kind, 'transactionId', x.transaction_id::text)
            ORDER BY x.transaction_id), '[]') FROM (
            SELECT kind, transaction_id FROM provider_line_postings WHERE line = l.id
            UNION ALL SELECT 'report-line-change', transaction_id FROM provider_line_corrections
              WHERE line = l.id AND transaction_id IS NOT NULL
            UNION ALL SELECT 'suspense', s.transaction_id FROM provider_line_corrections c
              JOIN suspense_items s ON s.id = c.suspense_item_id WHERE c.line = l.id) AS x) AS postings,
         (SELECT coalesce(json_agg(json_build_object('reportId', c.report_id, 'recordedAt', c.recorded_at, 'content', c.content)
            ORDER BY c.id), '[]') FROM provider_line_changes c WHERE c.line = l.id) AS changes,
         (SELECT coalesce(json_agg(json_build_object('reason', a.reason, 'requestedBy', a.requested_by, 'approvedBy',
            a.approved_by, 'recordedAt', a.recorded_at) ORDER BY a.id), '[]')
            FROM provider_line_acceptances a WHERE a.line = l.id) AS acceptances
       FROM provider_report_lines l LEFT JOIN provider_line_payouts p ON p.line = l.id
       WHERE l.provider = $1 AND l.line_id = $2`;

/** @throws ApiError not_found */
export async function findLine(
  database: Pick<pg.ClientBase, 'query'>,
  { provider, lineId }: LineKey,
): Promise<StoredLine> {
  const { rows } = await database.query<StoredLine>(LINE, [provider, lineId]);
  if (!rows[0]) throw new ApiError('not_found', 'There is no such line.');
  return rows[0];
}

/** The account of the line's payment, refund or dispute, if our books know it. */
export async function payerOf(
  client: pg.ClientBase,
  { provider, subjectId, paymentId }: StoredLine,
): Promise<string | null> {
  const { rows } = await client.query<{ accountId: string }>(
    `SELECT account_id AS "accountId" FROM topups WHERE provider = $1 AND payment_id IN ($2, $3)
     UNION ALL SELECT account_id FROM topup_orders WHERE provider = $1 AND payment_id IN ($2, $3)
     UNION ALL SELECT t.account_id FROM topup_refunds r JOIN topups t ON t.id = r.topup_id
       WHERE t.provider = $1 AND r.provider_refund_id = $2
     UNION ALL SELECT account_id FROM disputes WHERE provider = $1 AND dispute_id = $2 LIMIT 1`,
    [provider, subjectId, paymentId],
  );
  return rows[0]?.accountId ?? null;
}
