-- What upstreams bill us for the work (UPC, nanos; USD): cost versions like prices, a cost for each charge, upstream bills.

-- What a channel takes for a model: for a call or second as the model is counted in, and for a million tokens of each
-- kind where work is metered. A version with neither withdraws the cost: it is unknown from then on.
CREATE TABLE upstream_cost_versions (
  id                 bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  channel_id         text NOT NULL REFERENCES channels,
  model_id           text NOT NULL REFERENCES models,
  unit_cost          numeric(30, 18) CHECK (unit_cost >= 0 AND unit_cost < 1e12),
  input_cost         numeric(30, 18) CHECK (input_cost >= 0 AND input_cost < 1e12),
  cached_input_cost  numeric(30, 18) CHECK (cached_input_cost >= 0 AND cached_input_cost < 1e12),
  output_cost        numeric(30, 18) CHECK (output_cost >= 0 AND output_cost < 1e12),
  bills_failures     boolean NOT NULL DEFAULT false, -- whether work that failed is billed too
  effective_from     timestamptz NOT NULL DEFAULT '-infinity',
  actor              text NOT NULL,
  reason             text NOT NULL,
  request_id         text NOT NULL,
  recorded_at        timestamptz NOT NULL DEFAULT now(),
  UNIQUE (channel_id, model_id, effective_from),
  UNIQUE (channel_id, model_id, request_id),
  CONSTRAINT all_tokens_or_none CHECK (num_nonnulls(input_cost, cached_input_cost, output_cost) IN (0, 3))
);
CALL make_append_only('upstream_cost_versions');
GRANT SELECT, INSERT ON upstream_cost_versions TO tollgate_billing;

-- The cost of each charge that reached an upstream, once it ended. Costs are told by the version in force when the charge
-- ended; what a bill says otherwise is posted with the bill.
CREATE TABLE charge_costs (
  charge_id        text NOT NULL,
  -- late: a failed charge turned out to be billed after its cost had been told.
  outcome          text NOT NULL CHECK (outcome IN ('delivered', 'failed', 'late')),
  account_id       text NOT NULL,
  channel_id       text NOT NULL,
  model_id         text NOT NULL,
  group_name       text NOT NULL,
  units            bigint NOT NULL,                -- calls or seconds; tokens of metered work
  cost             bigint NOT NULL CHECK (cost >= 0),
  cost_version_id  bigint,                         -- null: the cost of this model was not known
  transaction_id   bigint,                         -- null: nothing was posted, the cost is 0
  day              date NOT NULL,                  -- of UTC, when the charge ended
  PRIMARY KEY (charge_id, outcome),
  CONSTRAINT cost_is_posted CHECK ((cost > 0) = (transaction_id IS NOT NULL)),
  CONSTRAINT cost_has_version CHECK (cost = 0 OR cost_version_id IS NOT NULL)
);
CREATE INDEX charge_costs_day ON charge_costs USING brin (day) WITH (pages_per_range = 16, autosummarize = on);
CREATE INDEX charge_costs_unknown ON charge_costs (day) WHERE cost_version_id IS NULL;
CALL make_append_only('charge_costs');
GRANT SELECT, INSERT ON charge_costs TO tollgate_billing;

-- How far costs are told: everything that ended before. Windows number the postings.
CREATE TABLE cost_progress (
  only_row  boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  through   timestamptz NOT NULL DEFAULT '-infinity',
  windows   bigint NOT NULL DEFAULT 0
);
INSERT INTO cost_progress DEFAULT VALUES;
GRANT SELECT, UPDATE ON cost_progress TO tollgate_billing;

-- Charges end in the order of their making, nearly: a range index finds those of a window, and leaves their updates HOT.
CREATE INDEX charges_resolved ON charges USING brin (resolved_at) WITH (pages_per_range = 16, autosummarize = on);

-- What an upstream billed for a time: `accrued` is what costs of that time had come to, the rest was posted as expense.
CREATE TABLE upstream_bills (
  id              text PRIMARY KEY,
  channel_id      text NOT NULL REFERENCES channels,
  number          text NOT NULL,
  from_day        date NOT NULL,
  to_day          date NOT NULL,                   -- the first day that it is not for
  amount          bigint NOT NULL CHECK (amount >= 0),
  accrued         bigint NOT NULL CHECK (accrued >= 0),
  actor           text NOT NULL,
  request_id      text NOT NULL,
  transaction_id  bigint REFERENCES ledger_transactions,
  recorded_at     timestamptz NOT NULL DEFAULT now(),
  UNIQUE (channel_id, number),
  UNIQUE (actor, request_id),
  CHECK (from_day < to_day)
);
CALL make_append_only('upstream_bills');
GRANT SELECT, INSERT ON upstream_bills TO tollgate_billing;
