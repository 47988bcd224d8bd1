-- Reconciliation that says what it did not see: what a control read, what a report covers, and what people accepted.

-- Controls that look at recent things each round read everything once a day: a round says from when on it looked.
ALTER TABLE control_results ADD COLUMN since timestamptz;          -- null: at everything
-- When it happened, by which a round that looks at recent things would see it again; null: only one that looks at everything does.
ALTER TABLE control_findings ADD COLUMN happened_at timestamptz;
GRANT UPDATE (happened_at) ON control_findings TO tollgate_billing;

-- What a report covers ends where the next one begins: half-open, so that those of consecutive days join without a gap.
UPDATE provider_reports SET covers = tstzrange(lower(covers), upper(covers)
    + CASE WHEN provider = 'bank' THEN interval '1 microsecond' ELSE interval '0' END, '[)')
  WHERE covers IS NOT NULL AND upper_inc(covers);
ALTER TABLE provider_reports ADD CONSTRAINT covers_half_open CHECK (covers IS NULL OR isempty(covers) OR NOT upper_inc(covers));

-- Which payouts were made by the provider's own schedule, so that lines must name them, as it said itself. One that is noted
-- is done: its lines are known, or there are none to be known.
CREATE TABLE provider_payouts (
  provider     text NOT NULL CHECK (provider IN ('stripe', 'sandbox')),
  payout_id    text NOT NULL CHECK (length(payout_id) <= 200),
  automatic    boolean NOT NULL,
  recorded_at  timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (provider, payout_id)
);
CALL make_append_only('provider_payouts');
GRANT SELECT, INSERT ON provider_payouts TO tollgate_billing;

-- Lines at the bank whose posting was refused, each time that it was tried; a finding as long as they are open.
CREATE TABLE bank_match_failures (
  bank_line_id  bigint PRIMARY KEY REFERENCES bank_lines,
  kind          text NOT NULL,
  subject       text NOT NULL,
  error         text NOT NULL CHECK (length(error) <= 500),
  failed_at     timestamptz NOT NULL DEFAULT clock_timestamp()
);
GRANT SELECT, INSERT, DELETE ON bank_match_failures TO tollgate_billing;
GRANT UPDATE (kind, subject, error, failed_at) ON bank_match_failures TO tollgate_billing;

-- A line that a later report told otherwise, or a payout that no line names, which somebody looked at and accepts as it is: up to
-- the change that they saw, so that a later one is looked at again.
CREATE TABLE provider_line_acceptances (
  id             text PRIMARY KEY,
  line           bigint NOT NULL REFERENCES provider_report_lines,
  through        bigint NOT NULL CHECK (through >= 0),     -- the newest change that was known; 0 for none
  reason         text NOT NULL CHECK (length(reason) BETWEEN 1 AND 2000),
  requested_by   text NOT NULL,                            -- user:{id} or cli:{login}
  approved_by    text,                                     -- another one, where the amount needed two
  request_id     text NOT NULL,
  recorded_at    timestamptz NOT NULL DEFAULT now(),
  UNIQUE (line, through),
  CONSTRAINT another_person CHECK (approved_by IS NULL OR approved_by <> requested_by)
);
CALL make_append_only('provider_line_acceptances');
GRANT SELECT, INSERT ON provider_line_acceptances TO tollgate_billing;

-- What is new, for rounds that look at recent things alone.
CREATE INDEX topups_recorded ON topups USING brin (recorded_at) WITH (pages_per_range = 16, autosummarize = on);
CREATE INDEX provider_report_lines_recorded ON provider_report_lines USING brin (recorded_at)
  WITH (pages_per_range = 16, autosummarize = on);
CREATE INDEX provider_report_lines_refunds ON provider_report_lines (provider, payment_id) WHERE type = 'refund';

-- Charges, tasks and answered requests of a time, for reports of them; made in the order of these times, nearly.
CREATE INDEX charges_created ON charges USING brin (created_at) WITH (pages_per_range = 16, autosummarize = on);
CREATE INDEX tasks_created ON tasks USING brin (created_at) WITH (pages_per_range = 16, autosummarize = on);
