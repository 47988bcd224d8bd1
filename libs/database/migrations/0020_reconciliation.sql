-- Reconciliation that says what it did not see: what a control read, what a report covers, and what people accepted.

-- Controls that look at recent things each round read everything once a day: a round says from when on it looked.
ALTER TABLE control_results ADD COLUMN since timestamptz;          -- null: at everything
-- When it happened, by which a round that looks at recent things would see it again; null: only one that looks at everything does.
ALTER TABLE control_findings ADD COLUMN happened_at timestamptz;
GRANT UPDATE (happened_at) ON control_findings TO tollgate_billing;
