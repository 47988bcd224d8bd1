-- For the operator: tickets, refunds after settlement, webhooks and their deliveries.

-- Two groups read a topic now, so a place in a topic is no name of a letter any more; and only what billing itself
-- could not handle keeps a charge from being swept.
ALTER TABLE dead_letters ADD COLUMN consumer_group text NOT NULL DEFAULT 'billing';
ALTER TABLE dead_letters DROP CONSTRAINT dead_letters_topic_partition_offset_key;
ALTER TABLE dead_letters ADD CONSTRAINT dead_letters_place UNIQUE (topic, partition, "offset", consumer_group);

-- Webhooks ---------------------------------------------------------------------------------------------------

-- Where an account wants to be told of what happens to it. A secret that was exchanged signs along until its time.
CREATE TABLE webhook_endpoints (
  id                     text PRIMARY KEY,
  account_id             text NOT NULL REFERENCES accounts,
  url                    text NOT NULL CHECK (length(url) <= 2000),
  description            text NOT NULL DEFAULT '',
  events                 text[] NOT NULL CHECK (cardinality(events) > 0),
  secret                 text NOT NULL,
  previous_secret        text,
  previous_secret_until  timestamptz,
  disabled_at            timestamptz,
  disabled_reason        text CHECK (disabled_reason IN ('owner', 'failing', 'gone')),
  failing_since          timestamptz,               -- first failure after the last success
  deleted_at             timestamptz,
  created_at             timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT disabled_has_reason CHECK ((disabled_at IS NULL) = (disabled_reason IS NULL)),
  CONSTRAINT previous_has_end CHECK ((previous_secret IS NULL) = (previous_secret_until IS NULL))
);
CREATE INDEX webhook_endpoints_account ON webhook_endpoints (account_id) WHERE deleted_at IS NULL;

-- One event for one endpoint, however often its message comes. The body is what is signed and sent, to the byte.
CREATE TABLE webhook_deliveries (
  id               text PRIMARY KEY,
  endpoint_id      text NOT NULL REFERENCES webhook_endpoints,
  account_id       text NOT NULL,
  event_id         text NOT NULL,
  event_type       text NOT NULL,
  body             text NOT NULL,
  state            text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'delivered', 'failed')),
  attempts         integer NOT NULL DEFAULT 0,      -- of this turn: a replay begins a new one
  next_attempt_at  timestamptz NOT NULL DEFAULT now(),
  give_up_at       timestamptz NOT NULL,
  lease_token      uuid,
  created_at       timestamptz NOT NULL DEFAULT now(),
  ended_at         timestamptz,
  CONSTRAINT one_of_each_event UNIQUE (endpoint_id, event_id),
  CONSTRAINT ended_has_time CHECK ((state = 'pending') = (ended_at IS NULL))
) WITH (fillfactor = 70);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (endpoint_id, next_attempt_at) WHERE state = 'pending';
CREATE INDEX webhook_deliveries_log ON webhook_deliveries (endpoint_id, id);
CREATE INDEX webhook_deliveries_age ON webhook_deliveries (created_at);

CREATE TABLE webhook_attempts (
  id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  delivery_id  text NOT NULL REFERENCES webhook_deliveries ON DELETE CASCADE,
  started_at   timestamptz NOT NULL,
  duration_ms  integer NOT NULL,
  status       integer,                             -- null: no answer
  error        text,                                -- why there was none
  answer       text                                 -- its first characters
);
CREATE INDEX webhook_attempts_delivery ON webhook_attempts (delivery_id, id);

GRANT SELECT, INSERT ON webhook_endpoints, webhook_deliveries, webhook_attempts TO tollgate_billing;
GRANT UPDATE (url, description, events, secret, previous_secret, previous_secret_until, disabled_at, disabled_reason,
  failing_since, deleted_at) ON webhook_endpoints TO tollgate_billing;
GRANT UPDATE (state, attempts, next_attempt_at, give_up_at, lease_token, ended_at) ON webhook_deliveries
  TO tollgate_billing;
-- The log is kept for so long; then it goes.
GRANT DELETE ON webhook_deliveries, webhook_attempts TO tollgate_billing;

-- Tickets ----------------------------------------------------------------------------------------------------

CREATE TABLE tickets (
  id          text PRIMARY KEY,
  account_id  text NOT NULL REFERENCES accounts,
  opened_by   text NOT NULL REFERENCES users,
  kind        text NOT NULL CHECK (kind IN ('question', 'billing', 'reseller_rate', 'refund')),
  subject     text NOT NULL CHECK (length(subject) <= 200),
  state       text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'answered', 'closed')),  -- open: waits for support
  charge_id   text,                                 -- what it is about, if it is about a charge
  outcome     text CHECK (outcome IN ('rate_granted', 'refunded')),
  created_at  timestamptz NOT NULL DEFAULT now(),
  updated_at  timestamptz NOT NULL DEFAULT now(),
  closed_at   timestamptz,
  CONSTRAINT closed_has_time CHECK ((state = 'closed') = (closed_at IS NOT NULL))
);
CREATE INDEX tickets_account ON tickets (account_id, id);
CREATE INDEX tickets_waiting ON tickets (id) WHERE state = 'open';

-- What was written, by either side; a note is read by staff alone, an event is what the system did.
CREATE TABLE ticket_messages (
  id          text PRIMARY KEY,
  ticket_id   text NOT NULL REFERENCES tickets,
  kind        text NOT NULL CHECK (kind IN ('message', 'note', 'event')),
  author_id   text NOT NULL REFERENCES users,
  from_staff  boolean NOT NULL,
  body        text NOT NULL CHECK (length(body) <= 10000),
  created_at  timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX ticket_messages_ticket ON ticket_messages (ticket_id, id);
CALL make_append_only('ticket_messages');

GRANT SELECT, INSERT ON tickets, ticket_messages TO tollgate_billing;
GRANT UPDATE (state, charge_id, outcome, updated_at, closed_at) ON tickets TO tollgate_billing;

-- Refunds after settlement -----------------------------------------------------------------------------------

-- Given by a person, from a ticket, with a reason. Together they are never more than was settled: each is made under
-- the lock of its charge.
CREATE TABLE charge_refunds (
  id              text PRIMARY KEY,
  charge_id       text NOT NULL REFERENCES charges,
  seq             integer NOT NULL CHECK (seq > 0),
  account_id      text NOT NULL REFERENCES accounts,
  amount          bigint NOT NULL CHECK (amount > 0),
  reason          text NOT NULL,
  ticket_id       text NOT NULL REFERENCES tickets,
  requested_by    text NOT NULL REFERENCES users,
  approved_by     text REFERENCES users,            -- above the limit for one person
  request_id      text NOT NULL,
  transaction_id  bigint NOT NULL REFERENCES ledger_transactions,
  recorded_at     timestamptz NOT NULL DEFAULT now(),
  UNIQUE (charge_id, seq),
  UNIQUE (requested_by, request_id),
  CONSTRAINT two_people CHECK (approved_by <> requested_by)
);
CREATE INDEX charge_refunds_ticket ON charge_refunds (ticket_id);
CALL make_append_only('charge_refunds');
GRANT SELECT, INSERT ON charge_refunds TO tollgate_billing;
