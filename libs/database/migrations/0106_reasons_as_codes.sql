-- Why a control could not run and why a close was abandoned, as codes with parameters, so that each reader gets it in their language.
-- The English sentence stays beside them. Rows from before have only that.
ALTER TABLE control_results ADD COLUMN fault text;
ALTER TABLE ledger_periods ADD COLUMN abandoned_note jsonb;
GRANT UPDATE (abandoned_note) ON ledger_periods TO tollgate_billing;
