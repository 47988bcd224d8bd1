-- What a close goes by is said by the books, not by whoever closes; and what a control found in what is deleted since.

-- Work younger than this may be in flight: beside the limit, in milliseconds, what billing was configured with.
ALTER TABLE desk_limits DROP CONSTRAINT desk_limits_name_check;
ALTER TABLE desk_limits ADD CONSTRAINT desk_limits_name_check CHECK (name IN ('adjustment', 'close-grace'));
INSERT INTO desk_limits (name, amount) VALUES ('close-grace', 300000);

-- The grace that the checklist of a close went by; null for what was closed before it was kept.
ALTER TABLE ledger_periods ADD COLUMN grace_ms bigint CHECK (grace_ms >= 0);
GRANT UPDATE (grace_ms) ON ledger_periods TO tollgate_billing;
