-- The worker claims due tasks channel by channel: one that is slow or left alone is never read past.
CREATE INDEX tasks_due_by_channel ON tasks (channel_id, next_poll_at) WHERE state IN ('submitted', 'unknown');
DROP INDEX tasks_due;
