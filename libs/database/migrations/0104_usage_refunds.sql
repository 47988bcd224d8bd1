-- Refunds of a quarter are what failed requests had held. The sums of before counted what settled ones did not use as well,
-- so all begin again with the charges that are still shown. The progress comes first: its row is the lock of who adds up.
UPDATE usage_progress SET through = '-infinity';
TRUNCATE usage_days, usage_recent, usage_quarters;
COMMENT ON COLUMN usage_quarters.given_back IS 'Nanos of the holds of failed requests';
