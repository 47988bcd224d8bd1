-- Vendors price a second of video apart with and without sound. A request that leaves it open gets sound.
-- The version before works on: the function rated_price(price_versions,jsonb) is changed.
CREATE OR REPLACE FUNCTION rated_price(version price_versions, dimensions jsonb) RETURNS numeric LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(
    (SELECT (rate ->> 'unitPrice')::numeric FROM jsonb_array_elements(version.rates) WITH ORDINALITY AS r (rate, place)
      WHERE ('{"size": "auto", "quality": "auto", "resolution": "auto", "input": "none", "mode": "draft", "audio": "on"}'::jsonb
        || coalesce(dimensions, '{}')) @> (rate -> 'when')
      ORDER BY place LIMIT 1),
    version.unit_price)
$$;
-- What is asked of the vendor follows from the price that is held, and is saved with it.
GRANT UPDATE (request) ON tasks TO tollgate_gateway;
