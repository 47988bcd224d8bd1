-- Accounts that are deleted: an intent with its state, which a job carries out. What the law of books needs stays, under a
-- pseudonym; the rest goes.

-- What customers wrote goes with their account; the audit log keeps none of it.
ALTER TABLE audit_log DISABLE TRIGGER append_only;
UPDATE audit_log SET before = before - '{url,description}'::text[], after = after - '{url,description}'::text[]
  WHERE action LIKE 'webhook.%' AND (before ?| '{url,description}' OR after ?| '{url,description}');
ALTER TABLE audit_log ENABLE TRIGGER append_only;

-- Both change under the lock of the account's balances: whoever holds that lock reads what is decided.
ALTER TABLE accounts
  ADD COLUMN closing_at timestamptz,              -- its deletion was asked for
  ADD COLUMN deleted_at timestamptz,              -- its balance is gone, and it takes no more
  ADD CONSTRAINT deleted_was_closing CHECK (deleted_at IS NULL OR closing_at IS NOT NULL);
GRANT UPDATE (closing_at, deleted_at, invite_code) ON accounts TO tollgate_billing;

CREATE TABLE deletion_requests (
  id            text PRIMARY KEY,
  account_id    text NOT NULL REFERENCES accounts,
  state         text NOT NULL DEFAULT 'requested' CHECK (state IN ('requested', 'running', 'done', 'cancelled')),
  requested_by  text NOT NULL,                    -- as in the audit log
  ticket_id     text REFERENCES tickets,
  forfeits      boolean NOT NULL,                 -- whether a balance that is left may be forfeited
  requested_at  timestamptz NOT NULL DEFAULT now(),
  due_at        timestamptz NOT NULL,             -- until then it can be cancelled
  next_try_at   timestamptz NOT NULL,
  waiting_for   text CHECK (waiting_for IN ('holds', 'tasks', 'refunds', 'disputes', 'approvals', 'debt', 'balance', 'files')),
  forfeited     bigint CHECK (forfeited >= 0),    -- nanos; null until the balance was settled
  ended_at      timestamptz,
  CONSTRAINT ended_has_time CHECK ((state IN ('done', 'cancelled')) = (ended_at IS NOT NULL)),
  CONSTRAINT running_is_settled CHECK ((state IN ('running', 'done')) = (forfeited IS NOT NULL))
);
CREATE UNIQUE INDEX deletion_requests_live ON deletion_requests (account_id) WHERE state <> 'cancelled';
CREATE INDEX deletion_requests_due ON deletion_requests (next_try_at) WHERE state IN ('requested', 'running');
GRANT SELECT, INSERT ON deletion_requests TO tollgate_billing;
GRANT UPDATE (state, next_try_at, waiting_for, forfeited, ended_at) ON deletion_requests TO tollgate_billing;

INSERT INTO ledger_accounts (code, commodity, kind) VALUES ('forfeited', 'CRD', 'contra') ON CONFLICT (code) DO NOTHING;

-- Messages are as they were written, until their account is deleted.
DROP TRIGGER append_only ON ticket_messages;
CREATE TRIGGER as_written BEFORE UPDATE OR TRUNCATE ON ticket_messages
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE FUNCTION keep_messages() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM public.tickets t JOIN public.deletion_requests d ON d.account_id = t.account_id
      AND d.state = 'running' WHERE t.id = OLD.ticket_id) THEN
    RAISE EXCEPTION 'the messages of a ticket stay until its account is deleted' USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN OLD;
END $$;
REVOKE EXECUTE ON FUNCTION keep_messages() FROM PUBLIC;
CREATE TRIGGER kept BEFORE DELETE ON ticket_messages FOR EACH ROW EXECUTE FUNCTION keep_messages();
GRANT DELETE ON ticket_messages TO tollgate_billing;
GRANT UPDATE (subject) ON tickets TO tollgate_billing;

GRANT DELETE ON webhook_endpoints TO tollgate_billing;
GRANT UPDATE (key_prefix) ON api_keys TO tollgate_billing;
-- A long answer is a file, which the gateway removes when its time is over; the others go at once.
GRANT SELECT (answer_file, expires_at), UPDATE (expires_at), DELETE ON idempotency_keys TO tollgate_billing;

-- What an account may take along: made by a job in pieces, and gone after a while.
CREATE TABLE data_exports (
  id            text PRIMARY KEY,
  account_id    text NOT NULL REFERENCES accounts,
  state         text NOT NULL DEFAULT 'requested' CHECK (state IN ('requested', 'running', 'ready', 'failed')),
  requested_at  timestamptz NOT NULL DEFAULT now(),
  lease_token   uuid,
  lease_until   timestamptz,
  attempts      integer NOT NULL DEFAULT 0,
  bytes         bigint NOT NULL DEFAULT 0,
  failure       text CHECK (failure IN ('too_large', 'failed')),
  ready_at      timestamptz,
  expires_at    timestamptz,
  CONSTRAINT ready_has_times CHECK ((state = 'ready') = (ready_at IS NOT NULL)),
  CONSTRAINT failed_says_why CHECK ((state = 'failed') = (failure IS NOT NULL))
);
CREATE UNIQUE INDEX data_exports_one_at_a_time ON data_exports (account_id) WHERE state IN ('requested', 'running');
CREATE INDEX data_exports_account ON data_exports (account_id, id);
CREATE INDEX data_exports_waiting ON data_exports (id) WHERE state IN ('requested', 'running');
CREATE TABLE data_export_pieces (
  export_id  text NOT NULL REFERENCES data_exports ON DELETE CASCADE,
  ordinal    integer NOT NULL,
  bytes      bytea NOT NULL,
  PRIMARY KEY (export_id, ordinal)
);
ALTER TABLE data_export_pieces ALTER COLUMN bytes SET STORAGE EXTERNAL;
GRANT SELECT, INSERT, DELETE ON data_exports, data_export_pieces TO tollgate_billing;
GRANT UPDATE (state, lease_token, lease_until, attempts, bytes, failure, ready_at, expires_at) ON data_exports
  TO tollgate_billing;
