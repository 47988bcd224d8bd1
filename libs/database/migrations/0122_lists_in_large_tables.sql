-- Lists of few rows in large tables, each read by an index of its own instead of the whole table.
CREATE INDEX audit_log_action ON audit_log (action, id);
CREATE INDEX users_staff ON users (id) WHERE roles <> '{user}';
CREATE INDEX dead_letters_waiting ON dead_letters (id) WHERE replayed_at IS NULL;

CREATE INDEX payment_events_state ON payment_events (state, received_at, provider, event_id);
CREATE INDEX disputes_opened ON disputes (opened_at, provider, dispute_id);

-- Deleted ones too, which an account's deletion removes.
CREATE INDEX webhook_endpoints_of_account ON webhook_endpoints (account_id);

-- An account may revoke any number of keys over the years. Its list has those that work, and its spending in a month concerns
-- those that worked in it.
CREATE INDEX api_keys_live ON api_keys (account_id, id) WHERE revoked_at IS NULL;
CREATE INDEX api_keys_working ON api_keys (account_id, coalesce(revoked_at, 'infinity'));
