-- Vendors price an image by its size and quality, a second of video by its resolution: a price may have rates, each for values
-- that a request asks for. The first that applies prices the request, else the unit price does.

ALTER TABLE price_versions
  ADD COLUMN rates jsonb,
  ADD CONSTRAINT rates_are_of_a_unit CHECK (rates IS NULL
    OR (unit_price IS NOT NULL AND jsonb_typeof(rates) = 'array' AND jsonb_array_length(rates) BETWEEN 1 AND 64));

-- What the request of a charge asked for, by dimension. NULL: nothing, or it was held before prices had rates.
ALTER TABLE charges ADD COLUMN dimensions jsonb;
GRANT SELECT (dimensions) ON charges TO tollgate_gateway;

-- The rule of libs/pricing for recomputing, with its defaults for what a request leaves out.
CREATE FUNCTION rated_price(version price_versions, dimensions jsonb) RETURNS numeric LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(
    (SELECT (rate ->> 'unitPrice')::numeric FROM jsonb_array_elements(version.rates) WITH ORDINALITY AS r (rate, place)
      WHERE ('{"size": "auto", "quality": "auto", "resolution": "auto", "input": "none", "mode": "draft"}'::jsonb
        || coalesce(dimensions, '{}')) @> (rate -> 'when')
      ORDER BY place LIMIT 1),
    version.unit_price)
$$;
REVOKE EXECUTE ON FUNCTION rated_price(price_versions, jsonb) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION rated_price(price_versions, jsonb) TO tollgate_billing;
