import type pg from 'pg';

/**
 * Books of a company that worked for some weeks, up to yesterday: thousands of customers, one of whom makes every
 * twentieth charge, holds that are charged in full, in part or not at all, and top-ups with their lots, some of them
 * recorded days after they happened. Balances after each entry, charges, spends and stored balances agree, so the
 * ledger check finds nothing.
 *
 * Missing are refunds of any kind, rewards, reversals, tasks, refused charges and everything that the service's loops
 * write. Transaction IDs are consecutive, without the gaps that a quiet ledger has.
 */
export interface BookSize {
  entries: number;
  accounts: number;
  days: number;
  /** Whether the last charges stay open, as in a relay that is running. True by default. */
  hasOpenCharges?: boolean;
}

/** Entries per charge: two, and two or three more. */
const ENTRIES_PER_CHARGE = 4.06;

const CUSTOMERS = `
  CREATE TEMP TABLE book_customers AS SELECT place, 'book' || lpad(place::text, 22, '0') AS account_id,
    'key' || lpad(place::text, 23, '0') AS key_id, 0::bigint AS main_id, 0::bigint AS held_id
    FROM generate_series(0, $1::int - 1) AS place;
  INSERT INTO accounts (id, name) SELECT account_id, 'bench' FROM book_customers;
  INSERT INTO api_keys (id, account_id, name, key_hash, group_name)
    SELECT key_id, account_id, 'bench', sha256(convert_to(key_id, 'UTF8')), 'Vendora-Main' FROM book_customers;
  INSERT INTO ledger_accounts (code, commodity, kind, account_id)
    SELECT 'customer:' || account_id || ':' || purpose, 'CRD', 'liability', account_id
    FROM book_customers, unnest(ARRAY['main', 'held', 'invite', 'refund-pending']) AS purpose;
  INSERT INTO customer_balances (account_id, main_ledger_id, held_ledger_id, invite_ledger_id, refund_pending_ledger_id)
    SELECT account_id, min(id) FILTER (WHERE code LIKE '%:main'), min(id) FILTER (WHERE code LIKE '%:held'),
      min(id) FILTER (WHERE code LIKE '%:invite'), min(id) FILTER (WHERE code LIKE '%:refund-pending')
    FROM ledger_accounts WHERE account_id LIKE 'book%' GROUP BY account_id;
  UPDATE book_customers c SET main_id = b.main_ledger_id, held_id = b.held_ledger_id
    FROM customer_balances b WHERE b.account_id = c.account_id;
  CREATE TEMP TABLE book_balances AS
    SELECT unnest(ARRAY[main_id, held_id]) AS ledger_account_id, 0::bigint AS balance FROM book_customers;
  CREATE UNIQUE INDEX ON book_balances (ledger_account_id);
  ANALYZE book_customers; ANALYZE book_balances;`;

/** $1 the day, $2 the charges on it, $3 the charges before it, $4 customers, $5 whether the last ones stay open. */
const CHARGES = `
  CREATE TEMP TABLE book_charges ON COMMIT DROP AS
  SELECT c.*, unit * units AS amount,
    CASE WHEN is_open THEN NULL WHEN n % 25 = 0 THEN 0 WHEN n % 17 = 3 AND units > 1 THEN units - 1 ELSE units END AS delivered
  FROM (SELECT n, 'book' || lpad((n + $3)::text, 22, '0') AS charge_id,
      CASE WHEN n % 20 = 0 THEN 0 ELSE (hashint8(n + $3)::bigint + 2147483648) % $4 END AS place,
      $1::date + (n::float8 / $2) * interval '23 hours 50 minutes' AS held_at,
      $1::date + (n::float8 / $2) * interval '23 hours 50 minutes' + (2 + n * 7919 % 40) * interval '1 second' AS ended_at,
      CASE WHEN n % 3 = 0 THEN 'imgmodel-4' ELSE 'vendora-imagine-image' END AS model_id,
      CASE WHEN n % 3 = 0 THEN 30000000 ELSE 20000000 END AS unit, (1 + n % 4) AS units, $5 AND n > $2 - 200 AS is_open
    FROM generate_series(1, $2::bigint) AS n) AS c`;

/** On the first day, everybody gets enough for all that follows. Later, each hundredth customer comes again. */
const TOPUPS = `
  CREATE TEMP TABLE book_topups ON COMMIT DROP AS
  SELECT t.*, 'top' || lpad(($2::bigint * 1000000 + place)::text, 23, '0') AS topup_id, (credits * 13 + 99999999) / 100000000 AS paid_minor
  FROM (SELECT place::bigint AS place, CASE WHEN place = 0 THEN 1000000000000000 WHEN $2 = 0 THEN 900000000000
        ELSE 20000000000 + place::bigint * 1000000007 % 80000000000 END AS credits,
      $1::date + CASE WHEN $2 = 0 THEN interval '0' ELSE place % 86000 * interval '1 second' END AS at,
      CASE WHEN $2 > 0 AND place % 10 = 0 THEN 1 + place % 3 ELSE 0 END AS late_days
    FROM generate_series(0, $3::int - 1) AS place WHERE $2 = 0 OR (place + $2) % 100 = 0) AS t`;

const EVENTS = `
  CREATE TEMP TABLE book_events ON COMMIT DROP AS
  SELECT $1::bigint + row_number() OVER (ORDER BY at, step, n) AS id, e.*, c.account_id, c.key_id, c.main_id, c.held_id
  FROM (
    SELECT n, 1 AS step, held_at AS at, held_at AS effective_at, 'hold' AS kind, place, charge_id, model_id, amount, 0::bigint AS settled
      FROM book_charges
    UNION ALL SELECT n, 2, ended_at, ended_at, CASE WHEN delivered = 0 THEN 'release' ELSE 'settle' END, place, charge_id, model_id,
      amount, delivered * unit FROM book_charges WHERE delivered IS NOT NULL
    UNION ALL SELECT place, 0, at, at - late_days * interval '1 day', 'topup', place, topup_id, NULL, credits, paid_minor
      FROM book_topups) AS e
  JOIN book_customers c USING (place)`;

const ENTRIES = `
  CREATE TEMP TABLE book_entries ON COMMIT DROP AS
  SELECT e.id, (row_number() OVER (PARTITION BY e.id ORDER BY e.place) - 1)::smallint AS ordinal, e.commodity, e.ledger_account_id,
    e.amount, CASE WHEN b.balance IS NOT NULL THEN b.balance + sum(e.amount) OVER (PARTITION BY e.ledger_account_id ORDER BY e.id) END::bigint
      AS balance_after, e.model_id, e.key_id
  FROM (
    SELECT id, 0 AS place, 'CRD' AS commodity, main_id AS ledger_account_id, -amount AS amount, NULL AS model_id, NULL AS key_id
      FROM book_events WHERE kind = 'hold'
    UNION ALL SELECT id, 1, 'CRD', held_id, amount, NULL, NULL FROM book_events WHERE kind = 'hold'
    UNION ALL SELECT id, 0, 'CRD', held_id, -amount, NULL, NULL FROM book_events WHERE kind IN ('settle', 'release')
    UNION ALL SELECT id, 1, 'CRD', (SELECT a.id FROM ledger_accounts a WHERE code = 'usage:image'), settled, model_id, key_id
      FROM book_events WHERE kind = 'settle'
    UNION ALL SELECT id, 2, 'CRD', main_id, amount - settled, NULL, NULL
      FROM book_events WHERE kind IN ('settle', 'release') AND amount > settled
    UNION ALL SELECT id, 0, 'CRD', (SELECT a.id FROM ledger_accounts a WHERE code = 'issued:credit'), -amount, NULL, NULL
      FROM book_events WHERE kind = 'topup'
    UNION ALL SELECT id, 1, 'CRD', main_id, amount, NULL, NULL FROM book_events WHERE kind = 'topup'
    UNION ALL SELECT id, 2, 'PAY', (SELECT a.id FROM ledger_accounts a WHERE code = 'psp:manual'), -settled, NULL, NULL
      FROM book_events WHERE kind = 'topup'
    UNION ALL SELECT id, 3, 'PAY', (SELECT a.id FROM ledger_accounts a WHERE code = 'deferred-revenue'), settled, NULL, NULL
      FROM book_events WHERE kind = 'topup') AS e
  LEFT JOIN book_balances b USING (ledger_account_id)`;

const WRITE = [
  `INSERT INTO ledger_transactions (id, kind, reference, account_id, charge_id, effective_at, recorded_at)
   SELECT id, kind, CASE kind WHEN 'topup' THEN 'topup:manual:' || charge_id WHEN 'hold' THEN 'charge:' || charge_id || ':hold'
       ELSE 'charge:' || charge_id || ':resolve' END,
     account_id, CASE WHEN kind <> 'topup' THEN charge_id END, effective_at, at FROM book_events ORDER BY id`,
  `INSERT INTO ledger_entries (transaction_id, ordinal, commodity, ledger_account_id, amount, balance_after, model_id, group_name,
     channel_id, key_id)
   SELECT id, ordinal, commodity, ledger_account_id, amount, balance_after, model_id, CASE WHEN model_id IS NOT NULL THEN 'Vendora-Main' END,
     CASE WHEN model_id IS NOT NULL THEN 'sandbox' END, key_id FROM book_entries ORDER BY id, ordinal`,
  `INSERT INTO charges (id, account_id, state, input_hash, key_id, family, model_id, requested_model, group_name, units, unit_price,
     multiplier, rule, price_version_id, multiplier_version_id, amount, channel_id, created_at, delivered_units, settled, released,
     resolved_at, upstream_status, latency_ms)
   SELECT c.charge_id, o.account_id, CASE WHEN delivered IS NULL THEN 'held' WHEN delivered = 0 THEN 'released' ELSE 'settled' END,
     sha256(convert_to(charge_id, 'UTF8')), o.key_id, 'image', c.model_id, c.model_id, 'Vendora-Main', c.units, p.unit_price,
     m.multiplier, 'list', p.id, m.id, c.amount, CASE WHEN delivered IS NOT NULL THEN 'sandbox' END, held_at, delivered,
     delivered * unit, c.amount - delivered * unit, CASE WHEN delivered IS NOT NULL THEN ended_at END, 200, 2000
   FROM book_charges c JOIN book_customers o USING (place) JOIN price_versions p ON p.model_id = c.model_id
     JOIN multiplier_versions m ON m.group_name = 'Vendora-Main' ORDER BY c.n`,
  `INSERT INTO topups (id, account_id, provider, payment_id, credits, paid_minor, currency, rate, transaction_id, recorded_at)
   SELECT topup_id, e.account_id, 'manual', topup_id, credits, paid_minor, 'USD', 1.3, e.id, e.at
   FROM book_topups t JOIN book_events e ON e.charge_id = t.topup_id ORDER BY e.id`,
  `INSERT INTO credit_lots (account_id, transaction_id, topup_id, credits, paid_minor, recorded_at)
   SELECT e.account_id, e.id, topup_id, credits, paid_minor, e.at
   FROM book_topups t JOIN book_events e ON e.charge_id = t.topup_id ORDER BY e.id`,
  `UPDATE book_balances b SET balance = b.balance + e.amount
   FROM (SELECT ledger_account_id, sum(amount)::bigint AS amount FROM book_entries GROUP BY 1) AS e
   WHERE e.ledger_account_id = b.ledger_account_id`,
  `INSERT INTO key_spend AS k (key_id, month, spent)
   SELECT key_id, date_trunc('month', $1::date)::date, sum(CASE kind WHEN 'hold' THEN amount ELSE settled - amount END)
   FROM book_events WHERE kind <> 'topup' GROUP BY 1
   ON CONFLICT (key_id, month) DO UPDATE SET spent = k.spent + excluded.spent`,
];

/** Fills an empty ledger that has a seeded catalog. @returns its number of entries */
export async function writeBooks(owner: pg.Pool, size: BookSize): Promise<number> {
  const perDay = Math.ceil(
    (size.entries - size.accounts * (4 + size.days * 0.04)) / ENTRIES_PER_CHARGE / size.days,
  );
  const client = await owner.connect();
  try {
    await client.query(
      `SET timezone = 'UTC'; SET synchronous_commit = off; SET statement_timeout = 0; SET work_mem = '128MB'`,
    );
    await client.query('BEGIN');
    for (const statement of CUSTOMERS.split(';\n')) {
      await client.query(statement, statement.includes('$1') ? [size.accounts] : []);
    }
    await client.query('COMMIT');
    for (let day = 0; day < size.days; day += 1) {
      await writeDay(client, { ...size, day, perDay });
      process.stderr.write(`\rbooks: ${day + 1} of ${size.days} days`);
    }
    await client.query(
      `UPDATE customer_balances c SET main = m.balance, held = h.balance FROM book_balances m, book_balances h
       WHERE m.ledger_account_id = c.main_ledger_id AND h.ledger_account_id = c.held_ledger_id`,
    );
    await client.query('VACUUM (ANALYZE)');
    process.stderr.write('\n');
    const { rows } = await client.query<{ count: string }>(
      'SELECT count(*)::text AS count FROM ledger_entries',
    );
    return Number(rows[0]?.count);
  } finally {
    client.release(true);
  }
}

async function writeDay(
  client: pg.PoolClient,
  { day, days, perDay, accounts, hasOpenCharges = true }: BookSize & { day: number; perDay: number },
): Promise<void> {
  const { rows } = await client.query<{ date: string; base: string }>(
    `SELECT (current_date - $1::int)::text AS date, last_value::text AS base FROM ledger_transaction_blocks`,
    [days - day],
  );
  const { date, base } = rows[0] as { date: string; base: string };
  await client.query('BEGIN');
  await client.query(CHARGES, [date, perDay, day * perDay, accounts, hasOpenCharges && day === days - 1]);
  await client.query(TOPUPS, [date, day, accounts]);
  await client.query(EVENTS, [base]);
  await client.query('ANALYZE book_events');
  await client.query(ENTRIES);
  await client.query('ANALYZE book_entries');
  for (const statement of WRITE) await client.query(statement, statement.includes('$1') ? [date] : []);
  await client.query(
    `SELECT setval('ledger_transaction_blocks', (max(id) / 1000 + 2) * 1000) FROM book_events`,
  );
  await client.query('COMMIT');
}
