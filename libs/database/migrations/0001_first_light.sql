-- Identity, catalog, double-entry ledger, tasks and outbox, with the roles of the programs.
-- Amounts of credit are bigint nano-USD (CRD); of the payment currency bigint minor units (PAY).
-- A positive entry is a credit, a negative one a debit.

DO $$
DECLARE program_role text;
BEGIN
  FOREACH program_role IN ARRAY ARRAY['tollgate_gateway', 'tollgate_worker', 'tollgate_billing'] LOOP
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = program_role) THEN
      EXECUTE format('CREATE ROLE %I LOGIN', program_role);
    END IF;
  END LOOP;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
  NULL; -- another database of the same cluster was being migrated at the same moment
END $$;

REVOKE CREATE ON SCHEMA public FROM PUBLIC;

-- Append-only tables: refused to every role, the owner included, whatever it was granted.
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% on % is refused: the table is append-only', TG_OP, TG_TABLE_NAME
    USING ERRCODE = 'restrict_violation';
END $$;

CREATE PROCEDURE make_append_only(target regclass) LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format(
    'CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON %s FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()',
    target);
END $$;

-- Identity ---------------------------------------------------------------------------------------------------

CREATE TABLE accounts (
  id          text PRIMARY KEY,
  name        text NOT NULL,
  created_at  timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE groups (
  name        text PRIMARY KEY,
  created_at  timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE api_keys (
  id                   text PRIMARY KEY,
  account_id           text NOT NULL REFERENCES accounts,
  name                 text NOT NULL,
  key_hash             bytea NOT NULL UNIQUE CHECK (length(key_hash) = 32),
  group_name           text NOT NULL REFERENCES groups,
  allowed_models       text[],
  monthly_limit_nanos  bigint CHECK (monthly_limit_nanos >= 0),
  expires_at           timestamptz,
  revoked_at           timestamptz,
  created_at           timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX api_keys_account ON api_keys (account_id);

-- Catalog ----------------------------------------------------------------------------------------------------

-- Bumped by every change below; whoever caches the catalog compares it.
CREATE TABLE catalog_revision (
  only_row  boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  revision  bigint NOT NULL
);
INSERT INTO catalog_revision VALUES (true, 1);

CREATE TABLE models (
  id          text PRIMARY KEY CHECK (id ~ '^[a-z0-9][a-z0-9.-]{0,99}$'),
  family      text NOT NULL CHECK (family IN ('image', 'video', 'chat', 'speech', '3d')),
  unit        text NOT NULL CHECK (unit IN ('call', 'second')),
  owned_by    text NOT NULL,
  alias_of    text REFERENCES models,
  enabled     boolean NOT NULL DEFAULT true,
  limits      jsonb NOT NULL DEFAULT '{}',
  created_at  timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE group_models (
  group_name  text NOT NULL REFERENCES groups,
  model_id    text NOT NULL REFERENCES models,
  PRIMARY KEY (group_name, model_id)
);

CREATE TABLE price_versions (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  model_id        text NOT NULL REFERENCES models,
  unit_price      numeric(30, 18) CHECK (unit_price >= 0 AND unit_price < 1e12), -- NULL withdraws the price
  effective_from  timestamptz NOT NULL DEFAULT '-infinity',
  recorded_at     timestamptz NOT NULL DEFAULT now(),
  UNIQUE (model_id, effective_from)
);

CREATE TABLE multiplier_versions (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  group_name      text NOT NULL REFERENCES groups,
  multiplier      numeric(30, 18) CHECK (multiplier >= 0 AND multiplier < 1e12),
  effective_from  timestamptz NOT NULL DEFAULT '-infinity',
  recorded_at     timestamptz NOT NULL DEFAULT now(),
  UNIQUE (group_name, effective_from)
);

-- A rule of a group that replaces the list price: so far a fixed price for each call.
CREATE TABLE group_rule_versions (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  group_name      text NOT NULL REFERENCES groups,
  rule            text NOT NULL CHECK (rule IN ('fixed_per_call', 'none')),
  unit_price      numeric(30, 18) CHECK (unit_price >= 0 AND unit_price < 1e12),
  effective_from  timestamptz NOT NULL DEFAULT '-infinity',
  recorded_at     timestamptz NOT NULL DEFAULT now(),
  UNIQUE (group_name, effective_from),
  CHECK ((rule = 'fixed_per_call') = (unit_price IS NOT NULL))
);
CALL make_append_only('price_versions');
CALL make_append_only('multiplier_versions');
CALL make_append_only('group_rule_versions');

CREATE TABLE channels (
  id                     text PRIMARY KEY,
  protocol               text NOT NULL CHECK (protocol IN ('openai-xai')),
  base_url               text NOT NULL,
  api_key                text NOT NULL,
  enabled                boolean NOT NULL DEFAULT true,
  priority               integer NOT NULL DEFAULT 0,
  weight                 integer NOT NULL DEFAULT 1 CHECK (weight > 0),
  request_timeout_ms     integer NOT NULL DEFAULT 120000 CHECK (request_timeout_ms > 0),
  allow_private_address  boolean NOT NULL DEFAULT false,
  honours_idempotency    boolean NOT NULL DEFAULT false,
  created_at             timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE channel_models (
  channel_id      text NOT NULL REFERENCES channels,
  model_id        text NOT NULL REFERENCES models,
  upstream_model  text NOT NULL,
  PRIMARY KEY (channel_id, model_id)
);

CREATE TABLE channel_groups (
  channel_id  text NOT NULL REFERENCES channels,
  group_name  text NOT NULL REFERENCES groups,
  PRIMARY KEY (channel_id, group_name)
);

-- The lock behind "every hold after the effective time uses the new price": a hold takes it shared, a change of the
-- catalog exclusively, so no hold is deciding while a version appears.
CREATE FUNCTION catalog_lock_key() RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT 7011101::bigint';

CREATE FUNCTION bump_catalog_revision() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(catalog_lock_key());
  UPDATE catalog_revision SET revision = revision + 1;
  RETURN NULL;
END $$;

-- A version never takes effect in the past: holds that were already priced would contradict it. The first version of
-- a subject may start at -infinity, since nothing was ever priced without one.
CREATE FUNCTION guard_effective_from() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  is_first boolean;
BEGIN
  PERFORM pg_advisory_xact_lock(catalog_lock_key());
  IF TG_TABLE_NAME = 'price_versions' THEN
    is_first := NOT EXISTS (SELECT FROM price_versions WHERE model_id = NEW.model_id);
  ELSIF TG_TABLE_NAME = 'multiplier_versions' THEN
    is_first := NOT EXISTS (SELECT FROM multiplier_versions WHERE group_name = NEW.group_name);
  ELSE
    is_first := NOT EXISTS (SELECT FROM group_rule_versions WHERE group_name = NEW.group_name)
      AND NOT EXISTS (SELECT FROM group_models WHERE group_name = NEW.group_name);
  END IF;
  IF NOT is_first AND NEW.effective_from < clock_timestamp() THEN
    NEW.effective_from := clock_timestamp();
  END IF;
  RETURN NEW;
END $$;

DO $$
DECLARE target text;
BEGIN
  FOREACH target IN ARRAY ARRAY['price_versions', 'multiplier_versions', 'group_rule_versions'] LOOP
    EXECUTE format('CREATE TRIGGER effective_from BEFORE INSERT ON %I FOR EACH ROW EXECUTE FUNCTION guard_effective_from()', target);
  END LOOP;
  FOREACH target IN ARRAY ARRAY['groups', 'models', 'group_models', 'price_versions', 'multiplier_versions',
                                'group_rule_versions', 'channels', 'channel_models', 'channel_groups'] LOOP
    EXECUTE format('CREATE TRIGGER catalog_revision AFTER INSERT OR UPDATE OR DELETE ON %I FOR EACH STATEMENT EXECUTE FUNCTION bump_catalog_revision()', target);
  END LOOP;
END $$;

-- Ledger -----------------------------------------------------------------------------------------------------

CREATE TABLE ledger_accounts (
  id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  code        text NOT NULL UNIQUE,
  commodity   text NOT NULL CHECK (commodity IN ('CRD', 'PAY', 'UPC')),
  kind        text NOT NULL CHECK (kind IN ('liability', 'asset', 'revenue', 'contra', 'expense', 'clearing')),
  account_id  text REFERENCES accounts,
  created_at  timestamptz NOT NULL DEFAULT now(),
  UNIQUE (id, commodity)
);
CALL make_append_only('ledger_accounts');

INSERT INTO ledger_accounts (code, commodity, kind) VALUES
  ('issued:credit', 'CRD', 'contra'), ('issued:promo', 'CRD', 'contra'),
  ('usage:image', 'CRD', 'revenue'), ('usage:video', 'CRD', 'revenue'), ('usage:chat', 'CRD', 'revenue'),
  ('usage:speech', 'CRD', 'revenue'), ('usage:3d', 'CRD', 'revenue'),
  ('usage-refund', 'CRD', 'contra'), ('suspense:crd', 'CRD', 'clearing'),
  ('psp:sandbox', 'PAY', 'asset'), ('psp:manual', 'PAY', 'asset'),
  ('deferred-revenue', 'PAY', 'liability'), ('suspense:pay', 'PAY', 'clearing');

-- The stored balances of a customer in one row: one lock and one update for a hold. Updates stay HOT: room in every
-- page, and no index on anything that changes.
CREATE TABLE customer_balances (
  account_id                text PRIMARY KEY REFERENCES accounts,
  main                      bigint NOT NULL DEFAULT 0,
  held                      bigint NOT NULL DEFAULT 0,
  invite                    bigint NOT NULL DEFAULT 0,
  refund_pending            bigint NOT NULL DEFAULT 0,
  frozen                    boolean NOT NULL DEFAULT false,
  frozen_reason             text,
  main_ledger_id            bigint NOT NULL REFERENCES ledger_accounts,
  held_ledger_id            bigint NOT NULL REFERENCES ledger_accounts,
  invite_ledger_id          bigint NOT NULL REFERENCES ledger_accounts,
  refund_pending_ledger_id  bigint NOT NULL REFERENCES ledger_accounts,
  CONSTRAINT main_not_overdrawn CHECK (main >= 0 OR frozen),
  CONSTRAINT held_not_negative CHECK (held >= 0),
  CONSTRAINT invite_not_negative CHECK (invite >= 0),
  CONSTRAINT refund_pending_not_negative CHECK (refund_pending >= 0)
) WITH (fillfactor = 50);

-- A batch takes one value and numbers its transactions from it; taken after the accounts are locked, so the order of
-- ids within an account is the order of its balances.
CREATE SEQUENCE ledger_transaction_blocks INCREMENT BY 1000 START WITH 1000;

CREATE TABLE ledger_transactions (
  id            bigint PRIMARY KEY,
  kind          text NOT NULL,
  reference     text NOT NULL UNIQUE,
  account_id    text,
  charge_id     text,
  linked_id     bigint,
  effective_at  timestamptz NOT NULL,
  recorded_at   timestamptz NOT NULL DEFAULT now()
);
CALL make_append_only('ledger_transactions');

CREATE TABLE ledger_entries (
  transaction_id     bigint NOT NULL,
  ordinal            smallint NOT NULL,
  commodity          text NOT NULL,
  ledger_account_id  bigint NOT NULL,
  amount             bigint NOT NULL CHECK (amount <> 0),
  balance_after      bigint,
  model_id           text,
  group_name         text,
  channel_id         text,
  key_id             text,
  PRIMARY KEY (transaction_id, ordinal)
);
CREATE INDEX ledger_entries_account ON ledger_entries (ledger_account_id, transaction_id);
CALL make_append_only('ledger_entries');

-- A statement that writes entries writes whole transactions: each sums to zero per commodity.
CREATE FUNCTION entries_sum_to_zero() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  offender bigint;
BEGIN
  SELECT transaction_id INTO offender FROM new_entries
    GROUP BY transaction_id, commodity HAVING sum(amount) <> 0 LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'entries of transaction % do not sum to zero', offender USING ERRCODE = 'check_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER zero_sum AFTER INSERT ON ledger_entries
  REFERENCING NEW TABLE AS new_entries FOR EACH STATEMENT EXECUTE FUNCTION entries_sum_to_zero();

CREATE TABLE charges (
  id                     text PRIMARY KEY,
  account_id             text NOT NULL,
  state                  text NOT NULL CHECK (state IN ('refused', 'held', 'settled', 'released')),
  input_hash             bytea,               -- NULL for a tombstone: the hold never arrived
  key_id                 text,
  family                 text,
  model_id               text,                -- the model that was priced
  requested_model        text,                -- as the client named it; an alias keeps its name
  group_name             text,
  units                  bigint,
  unit_price             numeric(30, 18),
  multiplier             numeric(30, 18),
  rule                   text,
  price_version_id       bigint,
  multiplier_version_id  bigint,
  group_rule_version_id  bigint,
  lines                  jsonb,
  amount                 bigint NOT NULL DEFAULT 0 CHECK (amount >= 0),
  delivered_units        bigint,
  settled                bigint CHECK (settled >= 0),
  released               bigint CHECK (released >= 0),
  refusal_code           text,
  refusal_message        text,
  task_id                text,
  channel_id             text,
  request_id             text,
  resolution_reason      text,
  upstream_status        integer,
  latency_ms             integer,
  deadline               timestamptz,
  created_at             timestamptz NOT NULL DEFAULT now(),
  resolved_at            timestamptz,
  CONSTRAINT refused_has_code CHECK ((state = 'refused') = (refusal_code IS NOT NULL)),
  CONSTRAINT ended_adds_up CHECK (state NOT IN ('settled', 'released') OR settled + released = amount),
  CONSTRAINT open_is_unresolved CHECK ((state IN ('settled', 'released')) = (resolved_at IS NOT NULL))
) WITH (fillfactor = 70);
CREATE INDEX charges_held ON charges (deadline) WHERE state = 'held';
CREATE INDEX charges_task ON charges (task_id) WHERE task_id IS NOT NULL;

CREATE TABLE key_spend (
  key_id  text NOT NULL,
  month   date NOT NULL,
  spent   bigint NOT NULL CHECK (spent >= 0),
  PRIMARY KEY (key_id, month)
) WITH (fillfactor = 50);

CREATE TABLE topups (
  id              text PRIMARY KEY,
  account_id      text NOT NULL REFERENCES accounts,
  provider        text NOT NULL,
  payment_id      text NOT NULL,
  credits         bigint NOT NULL CHECK (credits > 0),
  paid_minor      bigint NOT NULL CHECK (paid_minor > 0),
  currency        text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
  rate            numeric(30, 18) NOT NULL CHECK (rate > 0 AND rate < 1e12),
  transaction_id  bigint NOT NULL REFERENCES ledger_transactions,
  recorded_at     timestamptz NOT NULL DEFAULT now(),
  UNIQUE (provider, payment_id)
);
CREATE INDEX topups_account ON topups (account_id, recorded_at);
CALL make_append_only('topups');

CREATE TABLE credit_lots (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  account_id      text NOT NULL REFERENCES accounts,
  transaction_id  bigint NOT NULL REFERENCES ledger_transactions,
  topup_id        text REFERENCES topups,
  credits         bigint NOT NULL CHECK (credits > 0),
  paid_minor      bigint NOT NULL CHECK (paid_minor >= 0),
  recorded_at     timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX credit_lots_account ON credit_lots (account_id, id);
CALL make_append_only('credit_lots');

-- Tasks ------------------------------------------------------------------------------------------------------

CREATE TABLE tasks (
  id               text PRIMARY KEY CHECK (id ~ '^[a-z0-9]{20,40}$'),
  kind             text NOT NULL CHECK (kind IN ('video', '3d')),
  account_id       text NOT NULL REFERENCES accounts,
  key_id           text NOT NULL REFERENCES api_keys,
  charge_id        text NOT NULL UNIQUE,
  dialect          text NOT NULL CHECK (dialect IN ('openai', 'xai')),
  state            text NOT NULL CHECK (state IN ('created', 'submitting', 'submitted', 'unknown', 'completed', 'failed', 'refused')),
  model_id         text NOT NULL,
  requested_model  text NOT NULL,
  request          jsonb NOT NULL,
  seconds          integer NOT NULL CHECK (seconds > 0),
  held_amount      bigint CHECK (held_amount >= 0),
  channel_id       text,
  upstream_model   text,
  upstream_id      text,
  progress         smallint NOT NULL DEFAULT 0 CHECK (progress BETWEEN 0 AND 100),
  error_code       text,
  error_message    text,
  unbilled_cost    text,                       -- why the operator may pay for work the customer did not
  file_key         text,
  file_bytes       bigint,
  file_type        text,
  created_at       timestamptz NOT NULL DEFAULT now(),
  submitting_at    timestamptz,
  submitted_at     timestamptz,
  ended_at         timestamptz,
  expires_at       timestamptz,
  deadline         timestamptz NOT NULL,
  next_poll_at     timestamptz,
  poll_attempts    integer NOT NULL DEFAULT 0,
  lease_token      uuid,
  CONSTRAINT ended_has_time CHECK ((state IN ('completed', 'failed', 'refused')) = (ended_at IS NOT NULL)),
  CONSTRAINT completed_has_file CHECK (state <> 'completed' OR file_key IS NOT NULL)
) WITH (fillfactor = 70);
CREATE INDEX tasks_account ON tasks (account_id, id);
CREATE INDEX tasks_upstream ON tasks (account_id, upstream_id) WHERE upstream_id IS NOT NULL;
CREATE INDEX tasks_due ON tasks (next_poll_at) WHERE state IN ('submitted', 'unknown');
CREATE INDEX tasks_starting ON tasks (created_at) WHERE state IN ('created', 'submitting');
CREATE INDEX tasks_ended ON tasks (ended_at) WHERE state IN ('completed', 'failed', 'refused');

-- Bus --------------------------------------------------------------------------------------------------------

CREATE TABLE outbox (
  id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  producer    text NOT NULL CHECK (producer IN ('gateway', 'worker', 'billing')),
  topic       text NOT NULL,
  key         text NOT NULL,
  payload     jsonb NOT NULL,
  created_at  timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX outbox_producer ON outbox (producer, id);

CREATE TABLE dead_letters (
  id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  topic       text NOT NULL,
  partition   integer NOT NULL,
  "offset"    text NOT NULL,
  key         text,
  payload     text,
  charge_id   text,
  reason      text NOT NULL,
  created_at  timestamptz NOT NULL DEFAULT now(),
  UNIQUE (topic, partition, "offset")
);
CREATE INDEX dead_letters_charge ON dead_letters (charge_id) WHERE charge_id IS NOT NULL;

-- Grants -----------------------------------------------------------------------------------------------------

GRANT USAGE ON SCHEMA public TO tollgate_gateway, tollgate_worker, tollgate_billing;
GRANT SELECT ON schema_migrations TO tollgate_gateway, tollgate_worker, tollgate_billing;
GRANT SELECT, INSERT, DELETE ON outbox TO tollgate_gateway, tollgate_worker, tollgate_billing;
GRANT SELECT ON catalog_revision, groups, models, group_models, price_versions, multiplier_versions,
  group_rule_versions, channels, channel_models, channel_groups TO tollgate_gateway, tollgate_worker, tollgate_billing;
GRANT SELECT ON accounts, api_keys TO tollgate_gateway, tollgate_billing;

GRANT SELECT, INSERT ON tasks TO tollgate_gateway;
GRANT UPDATE (state, held_amount, channel_id, upstream_model, upstream_id, progress, error_code, error_message,
  unbilled_cost, submitting_at, submitted_at, ended_at, next_poll_at) ON tasks TO tollgate_gateway;

GRANT SELECT ON tasks TO tollgate_worker, tollgate_billing;
GRANT UPDATE (state, upstream_id, progress, error_code, error_message, unbilled_cost, file_key, file_bytes, file_type,
  submitted_at, ended_at, expires_at, next_poll_at, poll_attempts, lease_token) ON tasks TO tollgate_worker;

GRANT INSERT ON accounts, api_keys, groups, models, group_models, price_versions, multiplier_versions,
  group_rule_versions, channels, channel_models, channel_groups TO tollgate_billing;
GRANT UPDATE ON groups, models, channels, channel_models TO tollgate_billing;
GRANT DELETE ON group_models, channel_models, channel_groups TO tollgate_billing;
GRANT UPDATE (name, allowed_models, monthly_limit_nanos, expires_at, revoked_at) ON api_keys TO tollgate_billing;
GRANT UPDATE (name) ON accounts TO tollgate_billing;
GRANT SELECT, INSERT ON ledger_accounts, ledger_transactions, ledger_entries, topups, credit_lots TO tollgate_billing;
GRANT SELECT, INSERT ON charges, customer_balances, key_spend, dead_letters TO tollgate_billing;
GRANT UPDATE (state, delivered_units, settled, released, channel_id, resolution_reason, upstream_status, latency_ms,
  resolved_at) ON charges TO tollgate_billing;
GRANT UPDATE (main, held, invite, refund_pending, frozen, frozen_reason) ON customer_balances TO tollgate_billing;
GRANT UPDATE (spent) ON key_spend TO tollgate_billing;
GRANT USAGE ON SEQUENCE ledger_transaction_blocks TO tollgate_billing;
