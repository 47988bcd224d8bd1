-- Usage by key and model in charts: of days for longer, with how long requests took, and of the last days by five minutes.

ALTER TABLE usage_days
  ADD COLUMN latency_ms bigint NOT NULL DEFAULT 0,
  ADD COLUMN timed      bigint NOT NULL DEFAULT 0;
COMMENT ON COLUMN usage_days.latency_ms IS 'the sum over the timed requests';

-- The same by five minutes, kept for two days and what they are compared with.
CREATE TABLE usage_recent (
  account_id  text NOT NULL,
  at          timestamptz NOT NULL,
  key_id      text NOT NULL,
  model_id    text NOT NULL,
  requests    bigint NOT NULL,
  settled     bigint NOT NULL,
  failures    bigint NOT NULL,
  latency_ms  bigint NOT NULL,
  timed       bigint NOT NULL,
  PRIMARY KEY (account_id, at, key_id, model_id)
) WITH (fillfactor = 70);
CREATE INDEX usage_recent_time ON usage_recent USING brin (at);
GRANT SELECT, INSERT, UPDATE, DELETE ON usage_recent TO tollgate_billing;

-- All sums begin again with the charges that are still shown.
TRUNCATE usage_quarters, usage_days;
UPDATE usage_progress SET through = '-infinity';

-- A task is found by the id that the upstream gave it, of one account and of any.
DROP INDEX tasks_upstream;
CREATE INDEX tasks_upstream ON tasks (upstream_id, account_id) WHERE upstream_id IS NOT NULL;
