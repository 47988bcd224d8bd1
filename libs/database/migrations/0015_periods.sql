-- Periods that close, facts that come late, adjustments of balances and debts that are given up.

-- Periods ----------------------------------------------------------------------------------------------------

-- Each begins where the last closed one ends. While one is `closing` nothing may be posted inside it any more; then it is
-- told for good, or abandoned. What is closed stays as it is.
CREATE TABLE ledger_periods (
  id                       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  starts_at                timestamptz NOT NULL,
  ends_at                  timestamptz NOT NULL,    -- the first instant that is outside
  state                    text NOT NULL DEFAULT 'closing' CHECK (state IN ('closing', 'closed', 'abandoned')),
  attempt                  integer NOT NULL DEFAULT 1, -- whoever takes over a close that died counts on
  progress                 text,                    -- what a close is doing, for those who wait
  -- No transaction with a smaller id may get entries any more.
  last_ledger_id           bigint,
  -- The books as they are told: what was recorded before this. By it the trial balance can be read again.
  closing_recorded_before  timestamptz,
  checklist                jsonb,
  balances_hash            bytea CHECK (length(balances_hash) = 32), -- sha256 of the balances' canonical text
  abandoned_reason         text,
  waivers                  jsonb NOT NULL,
  note                     text,
  request_id               text NOT NULL,
  closed_by                text NOT NULL,           -- user:{id} or cli
  begun_at                 timestamptz NOT NULL DEFAULT now(),
  ended_at                 timestamptz,
  CONSTRAINT ends_after_start CHECK (ends_at > starts_at AND isfinite(ends_at)),
  CONSTRAINT ended_has_time CHECK ((state = 'closing') = (ended_at IS NULL)),
  CONSTRAINT abandoned_has_reason CHECK ((state = 'abandoned') = (abandoned_reason IS NOT NULL)),
  CONSTRAINT closed_is_told CHECK (state <> 'closed' OR (last_ledger_id IS NOT NULL AND closing_recorded_before IS NOT NULL
    AND checklist IS NOT NULL AND balances_hash IS NOT NULL)),
  UNIQUE (closed_by, request_id)
);
CREATE UNIQUE INDEX ledger_periods_one_closing ON ledger_periods ((true)) WHERE state = 'closing';
-- The end of what is closed or closing is read by every posting.
CREATE UNIQUE INDEX ledger_periods_end ON ledger_periods (ends_at) INCLUDE (last_ledger_id) WHERE state <> 'abandoned';
CREATE UNIQUE INDEX ledger_periods_start ON ledger_periods (starts_at) WHERE state <> 'abandoned';

CREATE FUNCTION guard_period() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    IF NEW.state <> 'closing' OR NEW.last_ledger_id IS NOT NULL THEN
      RAISE EXCEPTION 'a period begins as closing' USING ERRCODE = 'restrict_violation';
    END IF;
    IF NEW.starts_at IS DISTINCT FROM
       (SELECT coalesce(max(ends_at), '-infinity') FROM ledger_periods WHERE state = 'closed') THEN
      RAISE EXCEPTION 'a period begins where the last closed one ends' USING ERRCODE = 'restrict_violation';
    END IF;
    IF NEW.ends_at > clock_timestamp() THEN
      RAISE EXCEPTION 'a period that has not ended cannot be closed' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
  END IF;
  IF OLD.state <> 'closing' THEN
    RAISE EXCEPTION 'period % is %: it stays as it is', OLD.id, OLD.state USING ERRCODE = 'restrict_violation';
  END IF;
  IF (NEW.id, NEW.starts_at, NEW.ends_at, NEW.request_id, NEW.begun_at)
     IS DISTINCT FROM (OLD.id, OLD.starts_at, OLD.ends_at, OLD.request_id, OLD.begun_at)
     OR NEW.last_ledger_id < OLD.last_ledger_id OR (NEW.last_ledger_id IS NULL AND OLD.last_ledger_id IS NOT NULL) THEN
    RAISE EXCEPTION 'period % keeps its bounds', OLD.id USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON ledger_periods FOR EACH ROW EXECUTE FUNCTION guard_period();
CREATE TRIGGER kept BEFORE DELETE OR TRUNCATE ON ledger_periods FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- The trial balance of a closed period, as it was told.
CREATE TABLE ledger_period_balances (
  period_id          bigint NOT NULL REFERENCES ledger_periods,
  ledger_account_id  bigint NOT NULL REFERENCES ledger_accounts,
  balance            numeric(30) NOT NULL,
  PRIMARY KEY (period_id, ledger_account_id)
);
CALL make_append_only('ledger_period_balances');

CREATE FUNCTION guard_period_balances() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM new_balances b JOIN ledger_periods p ON p.id = b.period_id WHERE p.state <> 'closing') THEN
    RAISE EXCEPTION 'the balances of a closed period stay as they are' USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER guard AFTER INSERT ON ledger_period_balances
  REFERENCING NEW TABLE AS new_balances FOR EACH STATEMENT EXECUTE FUNCTION guard_period_balances();

GRANT SELECT, INSERT ON ledger_periods, ledger_period_balances TO tollgate_billing;
GRANT UPDATE (state, attempt, progress, last_ledger_id, closing_recorded_before, checklist, balances_hash, abandoned_reason,
  waivers, note, closed_by, ended_at) ON ledger_periods TO tollgate_billing;

-- The lock ---------------------------------------------------------------------------------------------------

-- Since when facts may be posted: the end of what is closed or closing.
CREATE FUNCTION ledger_open_since() RETURNS timestamptz LANGUAGE sql STABLE AS $$
  SELECT ends_at FROM ledger_periods WHERE state <> 'abandoned' ORDER BY ends_at DESC LIMIT 1
$$;

-- Now, for what happens now: a clock that was set back brings nothing into a closed period, and nothing before a mark that
-- costs and reports have been told up to. Who asks has a transaction id by then.
CREATE FUNCTION ledger_effective_now() RETURNS timestamptz LANGUAGE sql VOLATILE AS $$
  SELECT greatest(clock_timestamp(), (SELECT max(at) FROM ledger_horizons),
    (SELECT ends_at FROM ledger_periods WHERE state <> 'abandoned' ORDER BY ends_at DESC LIMIT 1))
$$;

-- No lock is taken: a close commits its row, then waits for every transaction from before it. The look here comes after
-- the posting has its transaction id, and sees what was committed until now; a posting that does not see the close is
-- therefore one that the close waits for. That holds for READ COMMITTED alone, where each statement sees the present.
CREATE FUNCTION refuse_closed_period() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  open_since timestamptz;
  offender text;
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    RAISE EXCEPTION 'the ledger is written in READ COMMITTED transactions' USING ERRCODE = 'LP002';
  END IF;
  SELECT ends_at INTO open_since FROM ledger_periods WHERE state <> 'abandoned' ORDER BY ends_at DESC LIMIT 1;
  IF open_since IS NULL THEN
    RETURN NULL;
  END IF;
  SELECT reference INTO offender FROM new_transactions WHERE effective_at < open_since LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'transaction % is effective before %, where the books are closed', offender, open_since
      USING ERRCODE = 'LP001';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER open_period AFTER INSERT ON ledger_transactions
  REFERENCING NEW TABLE AS new_transactions FOR EACH STATEMENT EXECUTE FUNCTION refuse_closed_period();

-- Nor may entries be slipped into old transactions: whoever closes stores the ids that are told by then.
CREATE FUNCTION refuse_old_transaction() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  sealed bigint;
  offender bigint;
BEGIN
  SELECT last_ledger_id INTO sealed FROM ledger_periods WHERE state <> 'abandoned' AND last_ledger_id IS NOT NULL
    ORDER BY ends_at DESC LIMIT 1;
  IF sealed IS NULL THEN
    RETURN NULL;
  END IF;
  SELECT transaction_id INTO offender FROM new_entries WHERE transaction_id < sealed LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'transaction % is from before a close: it gets no entries', offender USING ERRCODE = 'LP001';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER open_transaction AFTER INSERT ON ledger_entries
  REFERENCING NEW TABLE AS new_entries FOR EACH STATEMENT EXECUTE FUNCTION refuse_old_transaction();

-- Facts that happened inside a period that was closed by the time they came: posted in the open one, with a link.
CREATE TABLE late_postings (
  transaction_id  bigint PRIMARY KEY REFERENCES ledger_transactions,
  period_id       bigint NOT NULL REFERENCES ledger_periods,
  happened_at     timestamptz NOT NULL
);
CREATE INDEX late_postings_period ON late_postings (period_id, transaction_id);
CALL make_append_only('late_postings');
GRANT SELECT, INSERT ON late_postings TO tollgate_billing;

-- Adjustments ------------------------------------------------------------------------------------------------

INSERT INTO ledger_accounts (code, commodity, kind) VALUES
  ('adjust:goodwill', 'CRD', 'contra'), ('adjust:correction', 'CRD', 'contra'), ('adjust:migration', 'CRD', 'contra'),
  ('adjust:compensation', 'CRD', 'contra'), ('baddebt', 'CRD', 'expense')
  ON CONFLICT (code) DO NOTHING;

-- Made by a person, from a ticket, with a reason; reversed by the opposite, never edited.
CREATE TABLE adjustments (
  id              text PRIMARY KEY,
  account_id      text NOT NULL REFERENCES accounts,
  ticket_id       text NOT NULL REFERENCES tickets,
  seq             integer NOT NULL CHECK (seq > 0),
  reason          text NOT NULL CHECK (reason IN ('goodwill', 'correction', 'migration', 'compensation')),
  amount          bigint NOT NULL CHECK (amount <> 0),   -- positive: for the customer
  note            text NOT NULL,
  reverses_id     text UNIQUE REFERENCES adjustments,
  requested_by    text NOT NULL,                    -- user:{id}, or an operator of the command line
  approved_by     text,                             -- above the limit for one person
  alone_limit     bigint NOT NULL,                  -- what one person could do alone for an account in a day
  request_id      text NOT NULL,
  transaction_id  bigint NOT NULL UNIQUE REFERENCES ledger_transactions,
  recorded_at     timestamptz NOT NULL DEFAULT now(),
  UNIQUE (ticket_id, seq),
  UNIQUE (requested_by, request_id),
  CONSTRAINT two_people CHECK (approved_by <> requested_by)
);
CREATE INDEX adjustments_account ON adjustments (account_id, id);
CALL make_append_only('adjustments');
GRANT SELECT, INSERT ON adjustments TO tollgate_billing;

-- What is left of the lot of a credit goes with its reversal; what of it was used is a use of other lots then.
ALTER TABLE credit_lot_changes DROP CONSTRAINT credit_lot_changes_kind_check;
ALTER TABLE credit_lot_changes ADD CONSTRAINT credit_lot_changes_kind_check CHECK (kind IN (
  'refund', 'refund-returned', 'chargeback', 'chargeback-won', 'debt', 'adjustment-reversed'));

-- A debt that is given up: once for an account and month.
CREATE TABLE write_offs (
  id              text PRIMARY KEY,
  account_id      text NOT NULL REFERENCES accounts,
  period          text NOT NULL CHECK (period ~ '^\d{4}-\d\d$'),
  amount          bigint NOT NULL CHECK (amount > 0),
  note            text NOT NULL,
  ticket_id       text NOT NULL REFERENCES tickets,
  requested_by    text NOT NULL,
  approved_by     text,
  alone_limit     bigint NOT NULL,
  request_id      text NOT NULL,
  transaction_id  bigint NOT NULL UNIQUE REFERENCES ledger_transactions,
  recorded_at     timestamptz NOT NULL DEFAULT now(),
  UNIQUE (account_id, period),
  UNIQUE (requested_by, request_id),
  CONSTRAINT two_people CHECK (approved_by <> requested_by)
);
CALL make_append_only('write_offs');
GRANT SELECT, INSERT ON write_offs TO tollgate_billing;
