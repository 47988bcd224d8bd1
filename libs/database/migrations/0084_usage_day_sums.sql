-- A control plane of before 0078 that ran beside it wrote days without latencies and nothing by five minutes. All sums
-- begin again with the charges that are still shown. The progress comes first: its row is the lock of who adds up.
UPDATE usage_progress SET through = '-infinity';
TRUNCATE usage_days, usage_recent, usage_quarters;

-- A program that does not know these columns fails from now on, rather than write sums without them.
ALTER TABLE usage_days
  ALTER COLUMN latency_ms DROP DEFAULT,
  ALTER COLUMN timed DROP DEFAULT;
