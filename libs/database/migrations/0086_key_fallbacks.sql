-- Models that a key's requests are served by when the one that they name cannot take them, in this order.

ALTER TABLE api_keys ADD COLUMN fallback_models text[]
  CHECK (cardinality(fallback_models) BETWEEN 1 AND 4 AND array_position(fallback_models, NULL) IS NULL);
GRANT UPDATE (fallback_models) ON api_keys TO tollgate_billing;
