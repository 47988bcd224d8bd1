-- Limits of requests by account, and of requests at the same time. Null: the defaults of the gateways hold.
ALTER TABLE accounts
  ADD COLUMN requests_per_minute integer CHECK (requests_per_minute > 0),
  ADD COLUMN max_concurrent_requests integer CHECK (max_concurrent_requests > 0);
ALTER TABLE groups
  ADD COLUMN max_concurrent_requests integer CHECK (max_concurrent_requests > 0);
GRANT UPDATE (requests_per_minute, max_concurrent_requests) ON accounts TO tollgate_billing;

-- The limits of a group are each account's own in it: no customer uses up what is another's.
CREATE INDEX tasks_running_by_account ON tasks (account_id, group_name)
  WHERE state IN ('created', 'submitting', 'submitted', 'unknown');
