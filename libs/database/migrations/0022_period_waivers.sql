-- What a period may be closed in spite of, agreed on by two people; and what people may do alone, said once for all programs.

-- Of an item of the checklist of the period that ends at an instant, so many findings are left for later. More than these
-- are not waived, and nothing else is.
CREATE TABLE period_waivers (
  id            text PRIMARY KEY,
  ends_at       timestamptz NOT NULL CHECK (isfinite(ends_at)),
  item          text NOT NULL CHECK (length(item) BETWEEN 1 AND 100),
  count         integer NOT NULL CHECK (count > 0),
  reason        text NOT NULL,
  requested_by  text NOT NULL,                    -- user:{id}
  approved_by   text NOT NULL,
  recorded_at   timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT two_people CHECK (approved_by <> requested_by)
);
CREATE INDEX period_waivers_end ON period_waivers (ends_at, id);
CALL make_append_only('period_waivers');
GRANT SELECT, INSERT ON period_waivers TO tollgate_billing;

-- What billing was configured with, for everything that must go by the same value, such as the command line.
CREATE TABLE desk_limits (
  name         text PRIMARY KEY CHECK (name IN ('adjustment')),
  amount       bigint NOT NULL CHECK (amount >= 0),   -- nanos
  recorded_at  timestamptz NOT NULL DEFAULT now()
);
INSERT INTO desk_limits (name, amount) VALUES ('adjustment', 20000000000);
GRANT SELECT ON desk_limits TO tollgate_billing;
GRANT UPDATE (amount, recorded_at) ON desk_limits TO tollgate_billing;
