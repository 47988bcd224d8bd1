-- Writing into a vendor's cache costs more than reading the input: a price for entries that live five minutes, and one for
-- an hour. Where a version states none, they follow from its price of input, so that none is ever sold below it.

ALTER TABLE price_versions
  ADD COLUMN cache_write_price numeric(30, 18) CHECK (cache_write_price >= 0 AND cache_write_price < 1e12),
  ADD COLUMN cache_write_1h_price numeric(30, 18) CHECK (cache_write_1h_price >= 0 AND cache_write_1h_price < 1e12),
  ADD CONSTRAINT cache_writes_are_input CHECK (num_nonnulls(cache_write_price, cache_write_1h_price) = 0 OR input_price IS NOT NULL);

-- The rule of libs/pricing for recomputing: the price of a million tokens of a kind of line.
CREATE FUNCTION token_price(kind text, version price_versions) RETURNS numeric LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE kind
    WHEN 'input' THEN version.input_price
    WHEN 'cached_input' THEN version.cached_input_price
    WHEN 'output' THEN version.output_price
    WHEN 'cache_write' THEN coalesce(version.cache_write_price, version.input_price * 1.25)
    WHEN 'cache_write_1h' THEN coalesce(version.cache_write_1h_price, version.input_price * 2)
  END
$$;
REVOKE EXECUTE ON FUNCTION token_price(text, price_versions) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION token_price(text, price_versions) TO tollgate_billing;

-- What upstreams take for writes follows from what they take for input, by what vendors charge for it.
CREATE OR REPLACE FUNCTION lines_cost(lines jsonb, input_cost numeric, cached_input_cost numeric, output_cost numeric)
  RETURNS numeric LANGUAGE sql IMMUTABLE STRICT AS $$
  SELECT coalesce(sum(ceil((line ->> 'units')::numeric * 1000 *
    CASE line ->> 'kind' WHEN 'input' THEN input_cost WHEN 'cached_input' THEN cached_input_cost
      WHEN 'cache_write' THEN input_cost * 1.25 WHEN 'cache_write_1h' THEN input_cost * 2 ELSE output_cost END)), 0)
  FROM jsonb_array_elements(lines) AS line
$$;

-- A model that only changes pictures is not sold without one.
UPDATE models SET limits = limits || '{"minInputImages": 1}'
  WHERE id = 'vendora-imagine-edit' AND family = 'image' AND NOT limits ? 'minInputImages';
