import type pg from 'pg';

const APPEND_ONLY = ['ledger_transactions', 'charge_costs', 'lot_uses', 'lot_day_sums'];

/**
 * Moves the postings of a few seconds to several days, with their charges, costs and uses of lots, so that there are
 * days and snapshots between them. The last day ends about now.
 */
export async function spreadOverDays(owner: pg.Pool, days: number): Promise<void> {
  for (const table of APPEND_ONLY) await owner.query(`ALTER TABLE ${table} DISABLE TRIGGER USER`);
  await owner.query(
    `UPDATE ledger_transactions t SET recorded_at = r.at, effective_at = r.at
     FROM (SELECT id, recorded_at - ($1::int + 1) * interval '1 day' + ntile($1) OVER (ORDER BY id) * interval '1 day' AS at
       FROM ledger_transactions) AS r WHERE r.id = t.id`,
    [days],
  );
  await owner.query(
    `UPDATE charges c SET resolved_at = t.effective_at FROM ledger_transactions t
     WHERE t.charge_id = c.id AND t.kind IN ('settle', 'release')`,
  );
  await owner.query(
    `UPDATE charge_costs k SET ended_at = c.resolved_at,
       day = (coalesce((SELECT t.effective_at FROM ledger_transactions t WHERE t.id = k.transaction_id), c.resolved_at)
         AT TIME ZONE 'UTC')::date
     FROM charges c WHERE c.id = k.charge_id`,
  );
  await owner.query(
    `UPDATE lot_uses u SET effective_at = greatest(t.effective_at, b.effective_at)
     FROM ledger_transactions t, credit_lots l, ledger_transactions b
     WHERE t.id = u.at_id AND l.id = u.lot_id AND b.id = l.transaction_id`,
  );
  await owner.query('TRUNCATE lot_day_sums');
  await owner.query(
    `INSERT INTO lot_day_sums (day, credits, minor) SELECT day, sum(credits), sum(minor) FROM (
       SELECT (effective_at AT TIME ZONE 'UTC')::date AS day, credits, 0 AS minor FROM lot_uses
       UNION ALL SELECT (t.effective_at AT TIME ZONE 'UTC')::date, 0, u.minor FROM lot_uses u
       JOIN ledger_transactions t ON t.id = u.recognition_id) AS sums GROUP BY day`,
  );
  await owner.query(
    `UPDATE recognised_progress SET through = (SELECT min(recorded_at AT TIME ZONE 'UTC')::date FROM ledger_transactions)`,
  );
  for (const table of APPEND_ONLY) await owner.query(`ALTER TABLE ${table} ENABLE TRIGGER USER`);
}
