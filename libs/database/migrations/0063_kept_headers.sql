-- Of an answer kept under an Idempotency-Key, the headers that say which model served: a repeat has them, too.
ALTER TABLE idempotency_keys ADD COLUMN headers jsonb;
COMMENT ON COLUMN idempotency_keys.headers IS 'of the answer, by lower-case name; null where it had none to keep';
