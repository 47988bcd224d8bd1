-- When somebody last proved at a session that it is them: by signing in, or by a code or password since. Sessions from
-- before have proved nothing lately.
ALTER TABLE sessions ADD COLUMN confirmed_at timestamptz;
GRANT UPDATE (confirmed_at) ON sessions TO tollgate_billing;
