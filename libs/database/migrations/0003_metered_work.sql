-- Work that is priced by the token: three prices for a million tokens, lines on the charge, and the part of a
-- delivery beyond its hold, which is the operator's loss.

ALTER TABLE models DROP CONSTRAINT models_unit_check;
ALTER TABLE models ADD CONSTRAINT models_unit_check CHECK (unit IN ('call', 'second', 'token'));

ALTER TABLE price_versions
  ADD COLUMN input_price numeric(30, 18) CHECK (input_price >= 0 AND input_price < 1e12),
  ADD COLUMN cached_input_price numeric(30, 18) CHECK (cached_input_price >= 0 AND cached_input_price < 1e12),
  ADD COLUMN output_price numeric(30, 18) CHECK (output_price >= 0 AND output_price < 1e12),
  ADD CONSTRAINT one_kind_of_price CHECK (
    num_nonnulls(input_price, cached_input_price, output_price) IN (0, 3)
    AND (unit_price IS NULL OR input_price IS NULL));

ALTER TABLE charges
  ADD COLUMN delivered_lines jsonb,
  ADD COLUMN operator_loss bigint NOT NULL DEFAULT 0 CHECK (operator_loss >= 0);
GRANT UPDATE (delivered_lines, operator_loss) ON charges TO tollgate_billing;

-- What the lines of metered work come to in nanos, each rounded up once: the rule of libs/pricing, for recomputing.
CREATE FUNCTION lines_amount(lines jsonb, multiplier numeric) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT AS $$
  SELECT coalesce(sum(ceil((line ->> 'unitPrice')::numeric * (line ->> 'units')::numeric * multiplier * 1000000000)), 0)
  FROM jsonb_array_elements(lines) AS line
$$;

-- One row for each request that was charged or refused, read from the charges themselves: nothing can be missing.
CREATE INDEX charges_account ON charges (account_id, id);
CREATE VIEW usage_log AS
  SELECT id AS charge_id, request_id, account_id, key_id, requested_model, model_id, family, group_name, channel_id,
    rule, units, delivered_units, state, amount AS held, settled, released AS refunded, operator_loss, refusal_code,
    resolution_reason, upstream_status, latency_ms, task_id, created_at, resolved_at
  FROM charges;
GRANT SELECT ON usage_log TO tollgate_billing;
