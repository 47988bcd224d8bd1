-- Lots that are consumed as the ledger goes on, and the revenue that is recognised by it.

INSERT INTO ledger_accounts (code, commodity, kind) VALUES
  ('revenue:image', 'PAY', 'revenue'), ('revenue:video', 'PAY', 'revenue'), ('revenue:chat', 'PAY', 'revenue'),
  ('revenue:speech', 'PAY', 'revenue'), ('revenue:3d', 'PAY', 'revenue'), ('revenue:adjustment', 'PAY', 'revenue');

-- Up to which ledger transaction the lots of every account are brought at least: one row.
CREATE TABLE lot_progress (
  only_row    boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  through_id  bigint NOT NULL,
  -- What was recorded before this time is among it.
  at          timestamptz NOT NULL
);
INSERT INTO lot_progress (through_id, at) VALUES (0, '-infinity');

-- And those of one account, which may be further. Whoever advances it holds its row, and takes it after the account's
-- balances.
CREATE TABLE lot_cursors (
  account_id  text PRIMARY KEY REFERENCES accounts,
  through_id  bigint NOT NULL,
  -- Why it goes no further: what follows contradicts what was before. The other accounts go on.
  stuck       text
);
CREATE INDEX lot_cursors_stuck ON lot_cursors (account_id) WHERE stuck IS NOT NULL;

-- A lot as it stands at its account's cursor. Follows from credit_lots, credit_lot_changes and lot_uses.
CREATE TABLE lot_states (
  lot_id            bigint PRIMARY KEY REFERENCES credit_lots,
  account_id        text NOT NULL,
  credits           bigint NOT NULL,           -- after refunds and chargebacks, used or not
  paid_minor        bigint NOT NULL,           -- for those
  used              bigint NOT NULL,
  recognised_minor  bigint NOT NULL,           -- of paid_minor: what left deferred revenue
  last_purpose      text,                      -- of the newest use
  CONSTRAINT used_of_lot CHECK (used BETWEEN 0 AND credits),
  CONSTRAINT recognised_of_lot CHECK (recognised_minor BETWEEN 0 AND paid_minor)
) WITH (fillfactor = 70);
CREATE INDEX lot_states_account ON lot_states (account_id, lot_id);

-- Uses beyond all lots, oldest first: the next credits cover them.
CREATE TABLE lot_unmet (
  account_id  text NOT NULL,
  use_id      bigint NOT NULL,                 -- the ledger transaction that used it
  purpose     text NOT NULL,
  credits     bigint NOT NULL CHECK (credits > 0),
  PRIMARY KEY (account_id, use_id)
);

-- What used which lot, in order. Settlements of one purpose and day that fall whole into one lot are one row; what takes
-- from several lots has rows of its own. Negative: given back. Without foreign keys, whose checks would take longer than the
-- rows; a control compares both ends.
CREATE TABLE lot_uses (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  account_id      text NOT NULL,
  lot_id          bigint NOT NULL,
  first_use_id    bigint NOT NULL,             -- ledger transactions that used it
  last_use_id     bigint NOT NULL,
  purpose         text NOT NULL CHECK (purpose IN ('image', 'video', 'chat', 'speech', '3d', 'debt', 'adjustment')),
  credits         bigint NOT NULL,
  minor           bigint NOT NULL,             -- what it recognised of the lot's payment
  at_id           bigint NOT NULL,             -- the ledger transaction at which it happened, the last one
  effective_at    timestamptz NOT NULL,        -- of that
  recognition_id  bigint,                      -- the posting; null when nothing was recognised
  CHECK (first_use_id <= last_use_id),
  CHECK (credits <> 0 OR minor <> 0)
);
CREATE INDEX lot_uses_use ON lot_uses (account_id, purpose, last_use_id);
CREATE INDEX lot_uses_lot ON lot_uses (lot_id);
CREATE INDEX lot_uses_recognition ON lot_uses (recognition_id) WHERE recognition_id IS NOT NULL;
CALL make_append_only('lot_uses');

-- For what happened in a range of the ledger.
CREATE INDEX credit_lots_transaction ON credit_lots (transaction_id);
CREATE INDEX credit_lot_changes_transaction ON credit_lot_changes (transaction_id);

GRANT SELECT, INSERT ON lot_cursors, lot_states, lot_unmet, lot_uses TO tollgate_billing;
GRANT SELECT, UPDATE ON lot_progress TO tollgate_billing;
GRANT UPDATE ON lot_cursors, lot_states, lot_unmet TO tollgate_billing;
GRANT DELETE ON lot_unmet TO tollgate_billing;

-- What covered debts used to be posted by itself. It is recognised with everything else from now on, from the beginning.
DO $$
DECLARE
  covered numeric;
  undone bigint;
BEGIN
  SELECT sum(e.amount) INTO covered FROM ledger_transactions t JOIN ledger_entries e ON e.transaction_id = t.id
    JOIN ledger_accounts a ON a.id = e.ledger_account_id
    WHERE t.kind = 'debt-covered' AND a.code = 'expense:chargeback-loss';
  IF coalesce(covered, 0) = 0 THEN RETURN; END IF;
  undone := nextval('ledger_transaction_blocks');
  INSERT INTO ledger_transactions (id, kind, reference, effective_at)
    VALUES (undone, 'debt-covered-undone', 'debt-covered-undone', clock_timestamp());
  INSERT INTO ledger_entries (transaction_id, ordinal, commodity, ledger_account_id, amount)
    SELECT undone, CASE code WHEN 'deferred-revenue' THEN 0 ELSE 1 END, 'PAY', id,
      CASE code WHEN 'deferred-revenue' THEN covered ELSE -covered END
    FROM ledger_accounts WHERE code IN ('deferred-revenue', 'expense:chargeback-loss');
END $$;
