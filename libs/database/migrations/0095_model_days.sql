-- How often work of each model was delivered on a day and how long it took, for everybody to read. Days are added when they are
-- over, and only where several accounts had work of the model: nothing here says what a single customer did.
CREATE TABLE model_days (
  day         date NOT NULL,
  model_id    text NOT NULL,
  delivered   numeric(4, 3) NOT NULL CHECK (delivered BETWEEN 0 AND 1),
  latency_ms  integer CHECK (latency_ms >= 0),
  PRIMARY KEY (model_id, day)
);
COMMENT ON COLUMN model_days.delivered IS 'the share of an account''s requests that were delivered, averaged over accounts';
COMMENT ON COLUMN model_days.latency_ms IS 'the average of an account''s requests, the median over accounts';
GRANT SELECT, INSERT, UPDATE, DELETE ON model_days TO tollgate_billing;
