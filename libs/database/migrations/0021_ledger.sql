-- What the ledger's batches need; and write-offs that are reversed.

-- A write-off is reversed whole, once, by its linked opposite: the debt comes back. Its month stays taken.
ALTER TABLE write_offs ADD COLUMN reverses_id text UNIQUE REFERENCES write_offs;
ALTER TABLE write_offs DROP CONSTRAINT write_offs_amount_check;
ALTER TABLE write_offs ADD CONSTRAINT sign_of_write_off CHECK (CASE WHEN reverses_id IS NULL THEN amount > 0 ELSE amount < 0 END);
ALTER TABLE write_offs DROP CONSTRAINT write_offs_account_id_period_key;
CREATE UNIQUE INDEX write_offs_month ON write_offs (account_id, period) WHERE reverses_id IS NULL;
ALTER TABLE credit_lot_changes DROP CONSTRAINT credit_lot_changes_kind_check;
ALTER TABLE credit_lot_changes ADD CONSTRAINT credit_lot_changes_kind_check CHECK (kind IN (
  'refund', 'refund-returned', 'chargeback', 'chargeback-won', 'debt', 'adjustment-reversed', 'write-off-reversed'));

-- When what no credit covered was used: credits of a payment that is known late cover it then, not before.
ALTER TABLE lot_unmet ADD COLUMN effective_at timestamptz;
UPDATE lot_unmet u SET effective_at = t.effective_at FROM ledger_transactions t WHERE t.id = u.use_id;
ALTER TABLE lot_unmet ALTER COLUMN effective_at SET NOT NULL;

-- The end of the chunk that is being written, account by account, until `through_id` is there.
ALTER TABLE lot_progress ADD COLUMN target_id bigint;

-- What lot_uses come to by UTC day, so that reports need not read them all: rows of several writers, to be added up.
CREATE TABLE lot_day_sums (
  id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  day      date NOT NULL,
  credits  numeric(30) NOT NULL,               -- of uses that were effective on it
  minor    numeric(30) NOT NULL                -- of uses whose recognition is effective on it, as the ledger has it
);
CALL make_append_only('lot_day_sums');
INSERT INTO lot_day_sums (day, credits, minor)
  SELECT day, sum(credits), sum(minor) FROM (
    SELECT (effective_at AT TIME ZONE 'UTC')::date AS day, sum(credits) AS credits, 0 AS minor FROM lot_uses GROUP BY 1
    UNION ALL
    SELECT (t.effective_at AT TIME ZONE 'UTC')::date, 0, sum(u.minor) FROM lot_uses u
      JOIN ledger_transactions t ON t.id = u.recognition_id GROUP BY 1) AS sums GROUP BY day;
GRANT SELECT, INSERT ON lot_day_sums TO tollgate_billing;
