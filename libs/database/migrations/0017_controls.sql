-- What the controls of the books found, and when they ran.

-- One run of the controls on one snapshot. Its results stand beside it; old runs go, findings stay.
CREATE TABLE control_runs (
  id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  started_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
  finished_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- Up to where the books were certain in it.
  horizon      timestamptz NOT NULL,
  asked_by     text NOT NULL                    -- as in the audit log; system for the schedule
);
CREATE INDEX control_runs_age ON control_runs (started_at);

CREATE TABLE control_results (
  run_id       bigint NOT NULL REFERENCES control_runs ON DELETE CASCADE,
  control      text NOT NULL,
  count        bigint CHECK (count >= 0),       -- null: the control itself failed
  duration_ms  integer NOT NULL,
  error        text,
  PRIMARY KEY (control, run_id),
  CONSTRAINT counted_or_failed CHECK ((count IS NULL) = (error IS NOT NULL))
);
CREATE INDEX control_results_run ON control_results (run_id);

-- What a control named, from the run that saw it first to the one that did not see it any more. One that comes again is
-- another finding.
CREATE TABLE control_findings (
  id               bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  control          text NOT NULL,
  subject          text NOT NULL,
  state            text NOT NULL,
  message          text NOT NULL,
  details          jsonb NOT NULL,
  transaction_ids  bigint[] NOT NULL,
  first_seen_at    timestamptz NOT NULL,
  last_seen_at     timestamptz NOT NULL,
  resolved_at      timestamptz,
  acknowledged_by  text REFERENCES users,       -- who looks at it
  acknowledged_at  timestamptz,
  note             text CHECK (length(note) <= 2000),
  CONSTRAINT acknowledged_has_time CHECK ((acknowledged_by IS NULL) = (acknowledged_at IS NULL))
);
CREATE UNIQUE INDEX control_findings_open ON control_findings (control, subject) WHERE resolved_at IS NULL;
CREATE INDEX control_findings_list ON control_findings (control, id);

GRANT SELECT, INSERT, DELETE ON control_runs TO tollgate_billing;
GRANT SELECT, INSERT, DELETE ON control_results TO tollgate_billing;
GRANT SELECT, INSERT ON control_findings TO tollgate_billing;
GRANT UPDATE (state, message, details, transaction_ids, last_seen_at, resolved_at, acknowledged_by, acknowledged_at, note)
  ON control_findings TO tollgate_billing;

-- What was linked to a transaction afterwards, for whoever looks at one.
CREATE INDEX ledger_transactions_linked ON ledger_transactions (linked_id) WHERE linked_id IS NOT NULL;

-- What clients were answered, against what they were charged; the answers themselves are not billing's to read.
GRANT SELECT (key_id, charge_id, state, status, content_type, created_at) ON idempotency_keys TO tollgate_billing;
