-- The finance desk: a horizon that reports go up to, and balances as of days.

-- Marks of the order of things. A mark reads the clock, then takes its transaction id. Whoever takes an id after it records
-- its postings after that time; so once every transaction up to the mark has ended, nothing recorded before the mark's time
-- can appear any more.
CREATE TABLE ledger_horizons (
  xid              xid8 PRIMARY KEY,
  at               timestamptz NOT NULL,
  -- The last id of a ledger transaction that was taken before.
  last_ledger_id   bigint NOT NULL
);
CREATE INDEX ledger_horizons_at ON ledger_horizons (at);

-- When a posting is recorded. The transaction id comes first, which is what the marks rely on; a clock that is set back
-- does not bring postings before a time that a report may have reached.
CREATE FUNCTION ledger_clock() RETURNS timestamptz LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_current_xact_id();
  RETURN greatest(clock_timestamp(), (SELECT max(at) FROM ledger_horizons));
END $$;
ALTER TABLE ledger_transactions ALTER COLUMN recorded_at SET DEFAULT ledger_clock();

-- Postings arrive in the order of their times, nearly: a range index is tiny and costs the hot path nothing.
CREATE INDEX ledger_transactions_recorded ON ledger_transactions
  USING brin (recorded_at) WITH (pages_per_range = 16, autosummarize = on);
CREATE INDEX ledger_transactions_effective ON ledger_transactions
  USING brin (effective_at) WITH (pages_per_range = 16, autosummarize = on);

-- Balances of everything recorded before a day of UTC. Derived: with fewer of them, or none, every answer is the same.
CREATE TABLE ledger_snapshot_days (
  day       date PRIMARY KEY,
  -- Balances are stored where they moved, so a day needs those before it: dropping one drops what follows.
  previous  date REFERENCES ledger_snapshot_days ON DELETE CASCADE,
  last_id   bigint NOT NULL, -- no transaction that was recorded before the day has a larger id
  first_id  bigint NOT NULL  -- no transaction that is recorded later has a smaller one
);
-- A row for each day on which the account moved; the balance at a day is in the newest row that is not after it.
CREATE TABLE ledger_balance_snapshots (
  ledger_account_id  bigint NOT NULL REFERENCES ledger_accounts,
  day                date NOT NULL REFERENCES ledger_snapshot_days ON DELETE CASCADE,
  balance            numeric(30) NOT NULL,
  PRIMARY KEY (ledger_account_id, day)
);
CREATE INDEX ledger_balance_snapshots_day ON ledger_balance_snapshots (day);
CREATE INDEX ledger_snapshot_days_previous ON ledger_snapshot_days (previous);

GRANT SELECT, INSERT, DELETE ON ledger_horizons, ledger_snapshot_days, ledger_balance_snapshots TO tollgate_billing;
GRANT SELECT ON SEQUENCE ledger_transaction_blocks TO tollgate_billing;
