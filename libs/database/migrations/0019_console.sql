-- What the pages of the console need: a look at an account as its owner sees it, sums for the overview, what programs say
-- of themselves, and what became of dead letters.

-- Support looks at the console of somebody else, for a while and without changing anything.
ALTER TABLE sessions
  ADD COLUMN viewed_account_id text REFERENCES accounts,
  ADD COLUMN viewed_until timestamptz,
  ADD CONSTRAINT view_has_end CHECK ((viewed_account_id IS NULL) = (viewed_until IS NULL));
GRANT UPDATE (viewed_account_id, viewed_until) ON sessions TO tollgate_billing;

-- What an account's requests came to, by the quarter of an hour that they were held in: days begin at such a quarter in
-- every zone of the world. Derived from charges that ended before `through`; the row is the lock of who adds to it.
CREATE TABLE usage_progress (
  only_row  boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  through   timestamptz NOT NULL DEFAULT '-infinity'
);
INSERT INTO usage_progress DEFAULT VALUES;
CREATE TABLE usage_quarters (
  account_id  text NOT NULL,
  quarter     timestamptz NOT NULL,
  requests    bigint NOT NULL,
  settled     bigint NOT NULL,
  failures    bigint NOT NULL,                     -- requests of which everything was given back
  given_back  bigint NOT NULL,                     -- nanos of holds, also of those that were settled in part
  PRIMARY KEY (account_id, quarter)
) WITH (fillfactor = 70);
CREATE INDEX usage_quarters_time ON usage_quarters USING brin (quarter);
GRANT SELECT, UPDATE (through) ON usage_progress TO tollgate_billing;
GRANT SELECT, INSERT, UPDATE, DELETE ON usage_quarters TO tollgate_billing;

-- What each running program says of itself every few seconds. A role writes of its own program only.
CREATE TABLE program_reports (
  program      text NOT NULL CHECK (program IN ('gateway', 'worker', 'billing')),
  instance     text NOT NULL CHECK (length(instance) BETWEEN 1 AND 100),
  version      text NOT NULL,
  host         text NOT NULL,
  started_at   timestamptz NOT NULL,
  reported_at  timestamptz NOT NULL DEFAULT now(),
  report       jsonb NOT NULL,
  PRIMARY KEY (program, instance)
) WITH (fillfactor = 50);
ALTER TABLE program_reports ENABLE ROW LEVEL SECURITY;
CREATE POLICY of_gateway ON program_reports TO tollgate_gateway USING (program = 'gateway') WITH CHECK (program = 'gateway');
CREATE POLICY of_worker ON program_reports TO tollgate_worker USING (program = 'worker') WITH CHECK (program = 'worker');
CREATE POLICY of_billing ON program_reports TO tollgate_billing USING (program = 'billing') WITH CHECK (program = 'billing');
CREATE POLICY read_by_billing ON program_reports FOR SELECT TO tollgate_billing USING (true);
GRANT SELECT, INSERT, DELETE, UPDATE (version, host, started_at, reported_at, report) ON program_reports
  TO tollgate_gateway, tollgate_worker, tollgate_billing;

-- A letter that a person had played again stays, as a record; should it fail again, there is another one.
ALTER TABLE dead_letters
  ADD COLUMN replayed_at timestamptz,
  ADD COLUMN replayed_by text,
  ADD CONSTRAINT replay_has_person CHECK ((replayed_at IS NULL) = (replayed_by IS NULL));
GRANT UPDATE (replayed_at, replayed_by) ON dead_letters TO tollgate_billing;
