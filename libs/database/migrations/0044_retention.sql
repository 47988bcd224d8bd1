-- What is not kept for good goes after a time: what was cleared, how far that came, and when it last ran.

CREATE TABLE retention_runs (
  class          text PRIMARY KEY,
  kept_seconds   bigint NOT NULL CHECK (kept_seconds >= 0),
  last_run_at    timestamptz,
  removed_total  bigint NOT NULL DEFAULT 0,
  cursor         text                              -- where the next batch begins, for what is walked by id
);
GRANT SELECT, INSERT, UPDATE ON retention_runs TO tollgate_billing;

-- The prompt of a task that ended goes; what its views show beside it stays.
ALTER TABLE tasks ADD COLUMN request_cleared_at timestamptz
  CONSTRAINT only_the_ended_is_cleared CHECK (request_cleared_at IS NULL OR ended_at IS NOT NULL);
CREATE INDEX tasks_with_request ON tasks (ended_at) WHERE request_cleared_at IS NULL AND ended_at IS NOT NULL;
GRANT UPDATE (request, error_message, request_cleared_at) ON tasks TO tollgate_billing;

-- Request ids are chosen by clients and are no part of the books.
GRANT UPDATE (request_id) ON charges TO tollgate_billing;

CREATE INDEX sessions_end ON sessions (least(expires_at, revoked_at));
