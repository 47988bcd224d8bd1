-- Vendors price tokens of images and of sound apart from those of text. A price by the token may name prices for them, and
-- what an upstream takes may do so too: of a million tokens, by the kind of the line, as decimal texts. Tokens of a kind
-- without a price are counted as text.

CREATE FUNCTION are_media_amounts(amounts jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN jsonb_typeof(amounts) = 'object' THEN amounts <> '{}' AND NOT EXISTS (
    SELECT FROM jsonb_each(amounts) AS named (kind, amount)
    WHERE kind NOT IN ('image_input', 'cached_image_input', 'image_output', 'audio_input', 'cached_audio_input', 'audio_output')
      OR jsonb_typeof(amount) <> 'string' OR amount #>> '{}' !~ '^\d{1,7}(\.\d{1,18})?$')
    ELSE false END
$$;

ALTER TABLE price_versions
  ADD COLUMN media_prices jsonb,
  ADD CONSTRAINT media_prices_are_of_tokens CHECK (media_prices IS NULL
    OR (input_price IS NOT NULL AND are_media_amounts(media_prices)));

ALTER TABLE upstream_cost_versions
  ADD COLUMN media_costs jsonb,
  ADD CONSTRAINT media_costs_are_of_tokens CHECK (media_costs IS NULL
    OR (input_cost IS NOT NULL AND are_media_amounts(media_costs)));

-- A new column of the table would come before the end of a version, and a view keeps the order of its columns.
CREATE OR REPLACE VIEW upstream_cost_times AS
  SELECT id, channel_id, model_id, unit_cost, input_cost, cached_input_cost, output_cost, bills_failures, effective_from,
    actor, reason, request_id, recorded_at,
    lead(effective_from, 1, 'infinity') OVER (PARTITION BY channel_id, model_id ORDER BY effective_from) AS until, media_costs
  FROM upstream_cost_versions;

-- The rule of libs/pricing for recomputing: the price of a million tokens of a kind of line.
CREATE OR REPLACE FUNCTION token_price(kind text, version price_versions) RETURNS numeric LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE kind
    WHEN 'input' THEN version.input_price
    WHEN 'cached_input' THEN version.cached_input_price
    WHEN 'output' THEN version.output_price
    WHEN 'cache_write' THEN coalesce(version.cache_write_price, version.input_price * 1.25)
    WHEN 'cache_write_1h' THEN coalesce(version.cache_write_1h_price, version.input_price * 2)
    ELSE (version.media_prices ->> kind)::numeric
  END
$$;

-- As the function of the same name without them; what an upstream takes for a kind that is not said, is what it takes for text.
CREATE FUNCTION lines_cost(lines jsonb, input_cost numeric, cached_input_cost numeric, output_cost numeric, media_costs jsonb)
  RETURNS numeric LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN lines IS NOT NULL AND input_cost IS NOT NULL THEN
    (SELECT coalesce(sum(ceil((line ->> 'units')::numeric * 1000 * CASE line ->> 'kind'
        WHEN 'input' THEN input_cost
        WHEN 'cached_input' THEN cached_input_cost
        WHEN 'output' THEN output_cost
        WHEN 'cache_write' THEN input_cost * 1.25
        WHEN 'cache_write_1h' THEN input_cost * 2
        ELSE coalesce((media_costs ->> (line ->> 'kind'))::numeric, CASE line ->> 'kind'
          WHEN 'image_input' THEN input_cost
          WHEN 'audio_input' THEN input_cost
          WHEN 'cached_image_input' THEN coalesce((media_costs ->> 'image_input')::numeric, cached_input_cost)
          WHEN 'cached_audio_input' THEN coalesce((media_costs ->> 'audio_input')::numeric, cached_input_cost)
          ELSE output_cost END) END)), 0)
      FROM jsonb_array_elements(lines) AS line) END
$$;
REVOKE EXECUTE ON FUNCTION are_media_amounts(jsonb), lines_cost(jsonb, numeric, numeric, numeric, jsonb) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION are_media_amounts(jsonb), lines_cost(jsonb, numeric, numeric, numeric, jsonb) TO tollgate_billing;
