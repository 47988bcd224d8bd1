-- What protects callers: answers kept under an Idempotency-Key, requests per minute, tasks at once.

-- One row for each key of a client that a paid request came with, from before its hold until it expires. The charge id
-- is saved first, so that what a gateway left behind when it died can be found. A running row whose lease is over
-- belonged to a gateway that died.
CREATE TABLE idempotency_keys (
  key_id           text NOT NULL REFERENCES api_keys,
  idempotency_key  text NOT NULL CHECK (length(idempotency_key) BETWEEN 1 AND 255),
  content_hash     bytea NOT NULL CHECK (length(content_hash) = 32),
  charge_id        text NOT NULL UNIQUE,
  state            text NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'answered')),
  lease_until      timestamptz NOT NULL,
  status           smallint CHECK (status BETWEEN 200 AND 599),
  content_type     text,
  answer           bytea,    -- a short answer; a long one is a file
  answer_file      text,
  created_at       timestamptz NOT NULL DEFAULT now(),
  expires_at       timestamptz NOT NULL,
  PRIMARY KEY (key_id, idempotency_key),
  CONSTRAINT answered_has_answer CHECK (
    (state = 'answered') = (status IS NOT NULL AND num_nonnulls(answer, answer_file) = 1))
);
CREATE INDEX idempotency_keys_expiry ON idempotency_keys (expires_at);
GRANT SELECT, INSERT, UPDATE, DELETE ON idempotency_keys TO tollgate_gateway;

-- Limits of one key, and of all keys of a group together; null: none.
ALTER TABLE api_keys
  ADD COLUMN requests_per_minute integer CHECK (requests_per_minute > 0),
  ADD COLUMN max_running_tasks integer CHECK (max_running_tasks >= 0);
ALTER TABLE groups
  ADD COLUMN requests_per_minute integer CHECK (requests_per_minute > 0),
  ADD COLUMN max_running_tasks integer CHECK (max_running_tasks >= 0);
GRANT UPDATE (requests_per_minute, max_running_tasks) ON api_keys TO tollgate_billing;

-- The requests of a minute that gateways have taken for a key or a group, several at a time. Worth nothing after its
-- minute, so it is not written to the log: a crash of the database forgives a minute at most.
CREATE UNLOGGED TABLE request_allowances (
  subject  text NOT NULL,
  minute   bigint NOT NULL,
  taken    integer NOT NULL,
  PRIMARY KEY (subject, minute)
) WITH (fillfactor = 50);
GRANT SELECT, INSERT, UPDATE, DELETE ON request_allowances TO tollgate_gateway;

-- Running tasks are counted by key and by group where the next one is inserted.
ALTER TABLE tasks ADD COLUMN group_name text;
CREATE INDEX tasks_running ON tasks (group_name, key_id)
  WHERE state IN ('created', 'submitting', 'submitted', 'unknown');
