-- The marketplace: proposed versions of prices, multipliers and rules.

-- A change of the catalog is proposed, looked at and confirmed. `changes` holds each new value with the newest version of
-- its subject that the proposer saw: when there is a newer one at the confirmation, it is refused.
CREATE TABLE price_proposals (
  id            text PRIMARY KEY,
  revision      integer NOT NULL DEFAULT 1,
  state         text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'confirmed', 'cancelled')),
  note          text NOT NULL,
  effective_at  timestamptz,                    -- null: when it is confirmed
  changes       jsonb NOT NULL CHECK (jsonb_array_length(changes) > 0),
  proposed_by   text NOT NULL,                  -- as in the audit log
  proposed_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
  expires_at    timestamptz NOT NULL,
  decided_by    text,
  decided_at    timestamptz,
  CONSTRAINT decided_has_time CHECK ((state = 'open') = (decided_at IS NULL))
);
CREATE INDEX price_proposals_open ON price_proposals (id) WHERE state = 'open';
GRANT SELECT, INSERT ON price_proposals TO tollgate_billing;
GRANT UPDATE (revision, state, note, effective_at, changes, expires_at, decided_by, decided_at) ON price_proposals
  TO tollgate_billing;

-- Which proposal a version came from; null for those that a catalog began with.
ALTER TABLE price_versions ADD COLUMN proposal_id text REFERENCES price_proposals;
ALTER TABLE multiplier_versions ADD COLUMN proposal_id text REFERENCES price_proposals;
ALTER TABLE group_rule_versions ADD COLUMN proposal_id text REFERENCES price_proposals;

-- Takes the lock of catalog changes and tells since when this transaction has it: no hold has decided since then, so a
-- version may take effect from that instant on, and all versions of one transaction from the same.
CREATE FUNCTION lock_catalog() RETURNS timestamptz LANGUAGE plpgsql AS $$
DECLARE
  locked_at text;
BEGIN
  PERFORM pg_advisory_xact_lock(catalog_lock_key());
  locked_at := nullif(current_setting('tollgate.catalog_locked_at', true), '');
  IF locked_at IS NULL THEN
    locked_at := clock_timestamp()::text;
    PERFORM set_config('tollgate.catalog_locked_at', locked_at, true);
  END IF;
  RETURN greatest(locked_at::timestamptz, now());
END $$;

-- As before, but a version that would take effect in the past does so at the instant of the lock.
CREATE OR REPLACE FUNCTION guard_effective_from() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  earliest timestamptz := lock_catalog();
  is_first boolean;
BEGIN
  IF TG_TABLE_NAME = 'price_versions' THEN
    is_first := NOT EXISTS (SELECT FROM price_versions WHERE model_id = NEW.model_id);
  ELSIF TG_TABLE_NAME = 'multiplier_versions' THEN
    is_first := NOT EXISTS (SELECT FROM multiplier_versions WHERE group_name = NEW.group_name);
  ELSE
    is_first := NOT EXISTS (SELECT FROM group_rule_versions WHERE group_name = NEW.group_name)
      AND NOT EXISTS (SELECT FROM group_models WHERE group_name = NEW.group_name);
  END IF;
  IF NOT is_first AND NEW.effective_from < earliest THEN
    NEW.effective_from := earliest;
  END IF;
  RETURN NEW;
END $$;

-- Statements ------------------------------------------------------------------------------------------------

-- The first transaction on any of these ledger accounts that was recorded since a time; transactions of an account are
-- recorded in the order of their ids, so halving finds it by a few dozen look-ups, without an index on the time.
CREATE FUNCTION first_transaction_since(ledger_ids bigint[], since timestamptz) RETURNS bigint
  LANGUAGE plpgsql STABLE AS $$
DECLARE
  low bigint := 0;
  high bigint;
  middle bigint;
  found_id bigint;
BEGIN
  SELECT coalesce(max(newest.transaction_id), 0) + 1 INTO high FROM unnest(ledger_ids) AS ledger (id)
    CROSS JOIN LATERAL (SELECT transaction_id FROM ledger_entries WHERE ledger_account_id = ledger.id
      ORDER BY transaction_id DESC LIMIT 1) AS newest;
  WHILE low < high LOOP
    middle := low + (high - low) / 2;
    SELECT min(next.transaction_id) INTO found_id FROM unnest(ledger_ids) AS ledger (id)
      CROSS JOIN LATERAL (SELECT transaction_id FROM ledger_entries
        WHERE ledger_account_id = ledger.id AND transaction_id >= middle ORDER BY transaction_id LIMIT 1) AS next;
    IF found_id IS NULL OR (SELECT recorded_at >= since FROM ledger_transactions WHERE id = found_id) THEN
      high := middle;
    ELSE
      low := found_id + 1;
    END IF;
  END LOOP;
  RETURN low;
END $$;
