-- Requests of each model by day, over all accounts: the pages of models say how often work was delivered and how long it took.
CREATE TABLE model_days (
  day         date NOT NULL,
  model_id    text NOT NULL,
  requests    bigint NOT NULL,
  failures    bigint NOT NULL,
  latency_ms  bigint NOT NULL,
  timed       bigint NOT NULL,
  PRIMARY KEY (model_id, day)
) WITH (fillfactor = 70);
COMMENT ON COLUMN model_days.latency_ms IS 'the sum over the timed requests';
GRANT SELECT, INSERT, UPDATE, DELETE ON model_days TO tollgate_billing;

-- Whoever adds to the sums of accounts adds here with it, a program of before too. What leaves them, such as old days and
-- deleted accounts, stays here: it says nothing of anybody. When they begin again, so does this.
CREATE FUNCTION add_model_days() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO model_days AS d (day, model_id, requests, failures, latency_ms, timed)
  SELECT day, model_id, sum(requests), sum(failures), sum(latency_ms), sum(timed)
  FROM added WHERE model_id <> '' GROUP BY day, model_id ORDER BY model_id, day
  ON CONFLICT (model_id, day) DO UPDATE SET requests = d.requests + excluded.requests,
    failures = d.failures + excluded.failures, latency_ms = d.latency_ms + excluded.latency_ms,
    timed = d.timed + excluded.timed;
  RETURN NULL;
END $$;
CREATE TRIGGER add_model_days AFTER INSERT ON usage_days REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION add_model_days();

CREATE FUNCTION change_model_days() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO model_days AS d (day, model_id, requests, failures, latency_ms, timed)
  SELECT day, model_id, sum(requests), sum(failures), sum(latency_ms), sum(timed)
  FROM (SELECT day, model_id, requests, failures, latency_ms, timed FROM later
    UNION ALL SELECT day, model_id, -requests, -failures, -latency_ms, -timed FROM earlier) AS changes
  WHERE model_id <> '' GROUP BY day, model_id ORDER BY model_id, day
  ON CONFLICT (model_id, day) DO UPDATE SET requests = d.requests + excluded.requests,
    failures = d.failures + excluded.failures, latency_ms = d.latency_ms + excluded.latency_ms,
    timed = d.timed + excluded.timed;
  RETURN NULL;
END $$;
CREATE TRIGGER change_model_days AFTER UPDATE ON usage_days REFERENCING OLD TABLE AS earlier NEW TABLE AS later
  FOR EACH STATEMENT EXECUTE FUNCTION change_model_days();

CREATE FUNCTION empty_model_days() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  TRUNCATE model_days;
  RETURN NULL;
END $$;
CREATE TRIGGER empty_model_days AFTER TRUNCATE ON usage_days FOR EACH STATEMENT EXECUTE FUNCTION empty_model_days();

INSERT INTO model_days
  SELECT day, model_id, sum(requests), sum(failures), sum(latency_ms), sum(timed)
  FROM usage_days WHERE model_id <> '' GROUP BY day, model_id;
