-- Charts of many days read rows of each day and kind of work, however many accounts there are.
CREATE TABLE revenue_chart_days (
  day             date NOT NULL REFERENCES revenue_summary_days ON DELETE CASCADE,
  model_id        text NOT NULL,
  group_name      text NOT NULL,
  family          text NOT NULL,
  channel_id      text,
  charges         bigint NOT NULL,
  failed_charges  bigint NOT NULL,
  gross           numeric NOT NULL,
  refunds         numeric NOT NULL,
  cost            numeric NOT NULL,
  failed_cost     numeric NOT NULL
);
CREATE INDEX revenue_chart_days_day ON revenue_chart_days (day);
GRANT SELECT, INSERT, DELETE ON revenue_chart_days TO tollgate_billing;

-- Whoever stores a day writes these rows with it, a program of before too.
CREATE FUNCTION sum_up_revenue_charts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO revenue_chart_days
    SELECT day, model_id, group_name, family, channel_id, sum(charges), sum(failed_charges), sum(gross), sum(refunds),
      sum(cost), sum(failed_cost)
    FROM added GROUP BY day, model_id, group_name, family, channel_id;
  RETURN NULL;
END $$;
CREATE TRIGGER sum_up_charts AFTER INSERT ON revenue_days REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION sum_up_revenue_charts();

INSERT INTO revenue_chart_days
  SELECT day, model_id, group_name, family, channel_id, sum(charges), sum(failed_charges), sum(gross), sum(refunds), sum(cost),
    sum(failed_cost)
  FROM revenue_days GROUP BY day, model_id, group_name, family, channel_id;

-- Money that was recognised, by the day on which it was recorded, which is over, and the day on which it counts.
CREATE TABLE recognised_days (
  recorded_on  date NOT NULL,
  day          date NOT NULL,
  family       text NOT NULL,
  minor        numeric(30) NOT NULL,
  PRIMARY KEY (recorded_on, day, family)
);
CREATE INDEX recognised_days_day ON recognised_days (day);
CREATE TABLE recognised_progress (
  only_row  boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  through   date NOT NULL -- what was recorded before this day is in recognised_days
);
INSERT INTO recognised_progress (through)
  SELECT coalesce((SELECT min(t.recorded_at AT TIME ZONE 'UTC')::date FROM ledger_transactions t
    WHERE t.id = (SELECT min(e.transaction_id) FROM ledger_entries e JOIN ledger_accounts a ON a.id = e.ledger_account_id
      WHERE a.code LIKE 'revenue:%')), (now() AT TIME ZONE 'UTC')::date);
GRANT SELECT, INSERT ON recognised_days TO tollgate_billing;
GRANT SELECT, UPDATE (through) ON recognised_progress TO tollgate_billing;
