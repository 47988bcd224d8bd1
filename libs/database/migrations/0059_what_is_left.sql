-- What a key may still spend and what it has used, asked for by programs that call with it.

-- What the requests of each account came to, by the UTC day that they were held on, by key and by model. Derived from
-- charges together with usage_quarters, and added to under the same row of progress.
CREATE TABLE usage_days (
  account_id  text NOT NULL,
  day         date NOT NULL,
  key_id      text NOT NULL,
  model_id    text NOT NULL,
  requests    bigint NOT NULL,
  settled     bigint NOT NULL,
  failures    bigint NOT NULL,
  PRIMARY KEY (account_id, day, key_id, model_id)
) WITH (fillfactor = 70);
CREATE INDEX usage_days_time ON usage_days USING brin (day);
COMMENT ON COLUMN usage_days.failures IS 'requests of which everything was refunded';
GRANT SELECT, INSERT, UPDATE, DELETE ON usage_days TO tollgate_billing;

-- Both sums begin again with the charges that are still shown.
TRUNCATE usage_quarters;
UPDATE usage_progress SET through = '-infinity';

-- A gateway reads this of the account whose key it was sent, and changes none of it.
GRANT SELECT ON usage_days, usage_progress, key_spend TO tollgate_gateway;
GRANT SELECT (account_id, main, held, invite, refund_pending, frozen, monthly_limit) ON customer_balances TO tollgate_gateway;
GRANT SELECT (id, account_id, key_id, request_id, requested_model, model_id, group_name, family, state, rule, units,
  unit_price, multiplier, lines, price_version_id, multiplier_version_id, group_rule_version_id, amount, settled, released,
  operator_loss, delivered_units, delivered_lines, refusal_code, refusal_message, resolution_reason, upstream_status,
  latency_ms, channel_id, created_at, resolved_at, task_id) ON charges TO tollgate_gateway;
GRANT SELECT (id, charge_id, seq, amount, reason, recorded_at) ON charge_refunds TO tollgate_gateway;
