-- The list prices of vendors that proposed prices were derived from, so that one that moved since can be told.

CREATE TABLE price_bases (
  proposal_id     text NOT NULL REFERENCES price_proposals,
  model_id        text NOT NULL REFERENCES models,
  list_price      jsonb NOT NULL,                -- as the catalog of that version had it
  margin_percent  numeric(12, 6) NOT NULL CHECK (margin_percent >= 0 AND margin_percent < 1e6),
  recorded_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (proposal_id, model_id)
);
CREATE INDEX price_bases_model ON price_bases (model_id);
CALL make_append_only('price_bases');
GRANT SELECT, INSERT ON price_bases TO tollgate_billing;
