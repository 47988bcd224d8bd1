-- What upstreams bill us for the work (UPC, nanos of USD): versions of costs like those of prices, what each charge did
-- cost, what upstreams billed, and what was earned on each day.

-- How far costs are told: of every charge that ended before. The row is the lock of who tells them, and of new versions.
CREATE TABLE cost_progress (
  only_row  boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  begun     timestamptz, -- since when: nothing ended before
  through   timestamptz NOT NULL DEFAULT '-infinity',
  windows   bigint NOT NULL DEFAULT 0 -- numbers the postings
);
INSERT INTO cost_progress DEFAULT VALUES;
GRANT SELECT ON cost_progress TO tollgate_billing;
GRANT UPDATE (begun, through, windows) ON cost_progress TO tollgate_billing;

-- What a channel takes for a model: for each call or second, as the model is counted, or for a million tokens of each
-- kind. A version with neither withdraws the cost: it is not known from then on. Nine figures before the point are more
-- than a charge can hold, so that no cost of a charge is beyond a bigint.
CREATE TABLE upstream_cost_versions (
  id                 bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  channel_id         text NOT NULL REFERENCES channels,
  model_id           text NOT NULL REFERENCES models,
  unit_cost          numeric(30, 18) CHECK (unit_cost >= 0 AND unit_cost <= 1000),
  input_cost         numeric(30, 18) CHECK (input_cost >= 0 AND input_cost <= 1000000),
  cached_input_cost  numeric(30, 18) CHECK (cached_input_cost >= 0 AND cached_input_cost <= 1000000),
  output_cost        numeric(30, 18) CHECK (output_cost >= 0 AND output_cost <= 1000000),
  bills_failures     boolean NOT NULL DEFAULT false, -- whether work that failed is billed too
  effective_from     timestamptz NOT NULL DEFAULT '-infinity',
  actor              text NOT NULL,
  reason             text NOT NULL,
  request_id         text NOT NULL,
  recorded_at        timestamptz NOT NULL DEFAULT now(),
  UNIQUE (channel_id, model_id, effective_from),
  UNIQUE (channel_id, model_id, request_id),
  CONSTRAINT one_kind_of_cost CHECK (
    num_nonnulls(input_cost, cached_input_cost, output_cost) IN (0, 3) AND (unit_cost IS NULL OR input_cost IS NULL))
);
CALL make_append_only('upstream_cost_versions');
GRANT SELECT, INSERT ON upstream_cost_versions TO tollgate_billing;

-- A version takes effect where no cost was told yet: now or later, or since as long as the cost was not known. An earlier
-- time becomes the earliest that may be. The lock keeps who tells costs from reading a time in which a version appears.
CREATE FUNCTION guard_upstream_cost() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  present timestamptz;
  latest record;
BEGIN
  PERFORM FROM cost_progress FOR UPDATE;
  SELECT greatest(clock_timestamp(), through) INTO present FROM cost_progress;
  SELECT effective_from, num_nonnulls(unit_cost, input_cost) = 0 AS withdrawn INTO latest FROM upstream_cost_versions
    WHERE channel_id = NEW.channel_id AND model_id = NEW.model_id AND effective_from <= present
    ORDER BY effective_from DESC LIMIT 1;
  IF FOUND AND latest.withdrawn THEN
    NEW.effective_from := greatest(NEW.effective_from, latest.effective_from + interval '1 microsecond');
  ELSIF FOUND THEN
    NEW.effective_from := greatest(NEW.effective_from, present);
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER effective_from BEFORE INSERT ON upstream_cost_versions
  FOR EACH ROW EXECUTE FUNCTION guard_upstream_cost();

-- Each version with the end that the next one sets.
CREATE VIEW upstream_cost_times AS
  SELECT *, lead(effective_from, 1, 'infinity') OVER (PARTITION BY channel_id, model_id ORDER BY effective_from) AS until
  FROM upstream_cost_versions;
GRANT SELECT ON upstream_cost_times TO tollgate_billing;

-- What lines of metered work cost in nanos, by costs of a million tokens of each kind; each line is rounded up once.
CREATE FUNCTION lines_cost(lines jsonb, input_cost numeric, cached_input_cost numeric, output_cost numeric)
  RETURNS numeric LANGUAGE sql IMMUTABLE STRICT AS $$
  SELECT coalesce(sum(ceil((line ->> 'units')::numeric * 1000 *
    CASE line ->> 'kind' WHEN 'input' THEN input_cost WHEN 'cached_input' THEN cached_input_cost ELSE output_cost END)), 0)
  FROM jsonb_array_elements(lines) AS line
$$;
CREATE FUNCTION lines_units(lines jsonb) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT AS $$
  SELECT coalesce(sum((line ->> 'units')::bigint), 0)::bigint FROM jsonb_array_elements(lines) AS line
$$;

-- What each charge that reached an upstream did cost, told once it ended, by the version in force then. Never changed:
-- what a bill says otherwise is posted with the bill.
CREATE TABLE charge_costs (
  charge_id        text NOT NULL,
  -- late: told as not billed at first, until its task turned out to be billed after all.
  outcome          text NOT NULL CHECK (outcome IN ('delivered', 'failed', 'late')),
  account_id       text NOT NULL,
  channel_id       text NOT NULL,
  model_id         text NOT NULL,                  -- as on the charge: an alias keeps its name
  units            bigint NOT NULL,                -- calls or seconds; tokens of metered work
  cost             bigint NOT NULL CHECK (cost >= 0),
  cost_version_id  bigint NOT NULL,
  transaction_id   bigint,                         -- null: the cost is 0, nothing was posted
  ended_at         timestamptz NOT NULL,
  day              date NOT NULL,                  -- of UTC, in which the cost counts: that of its posting
  PRIMARY KEY (charge_id, outcome),
  CONSTRAINT cost_is_posted CHECK ((cost > 0) = (transaction_id IS NOT NULL))
);
CREATE INDEX charge_costs_day ON charge_costs USING brin (day) WITH (pages_per_range = 16, autosummarize = on);
CALL make_append_only('charge_costs');
GRANT SELECT, INSERT ON charge_costs TO tollgate_billing;

-- Charges that ended while the cost of their model on their channel was not known. Told, and removed here, when it is.
CREATE TABLE unknown_costs (
  charge_id   text PRIMARY KEY,
  channel_id  text NOT NULL,
  model_id    text NOT NULL,                       -- whose cost is missing: of an alias, the model it stands for
  metered     boolean NOT NULL,                    -- which kind of cost it needs
  ended_at    timestamptz NOT NULL
);
CREATE INDEX unknown_costs_subject ON unknown_costs (channel_id, model_id, metered, ended_at);
GRANT SELECT, INSERT, DELETE ON unknown_costs TO tollgate_billing;

-- Charges end in the order of their making, nearly: a range index finds those of a time, and leaves their updates HOT.
CREATE INDEX charges_resolved ON charges USING brin (resolved_at) WITH (pages_per_range = 16, autosummarize = on);
-- Failed work that an upstream bills all the same.
CREATE INDEX tasks_unbilled ON tasks (charge_id) WHERE unbilled_cost IS NOT NULL;

-- What an upstream billed for days: `accrued` is what their costs had come to and no bill had covered before; the rest was
-- posted as expense. A credit note is below zero.
CREATE TABLE upstream_bills (
  id              text PRIMARY KEY,
  channel_id      text NOT NULL REFERENCES channels,
  number          text NOT NULL,
  from_day        date NOT NULL,
  to_day          date NOT NULL,                   -- the first day that it is not for
  amount          bigint NOT NULL,
  accrued         bigint NOT NULL CHECK (accrued >= 0),
  actor           text NOT NULL,
  request_id      text NOT NULL,
  transaction_id  bigint REFERENCES ledger_transactions, -- null: nothing was billed for nothing
  recorded_at     timestamptz NOT NULL DEFAULT now(),
  UNIQUE (channel_id, number),
  UNIQUE (actor, request_id),
  CHECK (from_day < to_day)
);
CALL make_append_only('upstream_bills');
GRANT SELECT, INSERT ON upstream_bills TO tollgate_billing;

-- What was earned on each day that is over, by everything that reports ask for. Derived from charges, their refunds and
-- their costs: with fewer days here, or none, every answer is the same.
CREATE TABLE revenue_summary_days (
  day  date PRIMARY KEY
);
CREATE TABLE revenue_days (
  day                    date NOT NULL REFERENCES revenue_summary_days ON DELETE CASCADE,
  account_id             text NOT NULL,
  model_id               text NOT NULL,
  group_name             text NOT NULL,
  family                 text NOT NULL,
  channel_id             text,
  price_version_id       bigint,
  multiplier_version_id  bigint,
  group_rule_version_id  bigint,
  charges                bigint NOT NULL,
  failed_charges         bigint NOT NULL,
  units                  numeric NOT NULL,
  gross                  numeric NOT NULL,
  refunds                numeric NOT NULL,
  cost                   numeric NOT NULL,
  failed_cost            numeric NOT NULL
);
CREATE INDEX revenue_days_day ON revenue_days (day);
GRANT SELECT, INSERT, DELETE ON revenue_summary_days, revenue_days TO tollgate_billing;
