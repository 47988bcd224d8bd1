-- Nobody is alone with money: what each person let go out in a day, who has an interest in which account, who was ever an
-- administrator, and what one person did alone where an installation declares that it has no second one.

-- What billing was configured with, for everything that must go by the same value, such as the command line.
ALTER TABLE desk_limits DROP CONSTRAINT desk_limits_name_check;
ALTER TABLE desk_limits ADD CONSTRAINT desk_limits_name_check CHECK
  (name IN ('adjustment', 'close-grace', 'charge-refund', 'topup-refund', 'manual-topup', 'price-change-percent'));
INSERT INTO desk_limits (name, amount) VALUES
  ('charge-refund', 20000000000), ('topup-refund', 100000000000), ('manual-topup', 1000000000000),
  ('price-change-percent', 20);               -- this one in percent, the others in nanos

CREATE TABLE installation (
  fact         text PRIMARY KEY CHECK (fact IN ('one-person', 'played-payments')),
  holds        boolean NOT NULL DEFAULT false,
  recorded_at  timestamptz NOT NULL DEFAULT now()
);
INSERT INTO installation (fact) VALUES ('one-person'), ('played-payments');
GRANT SELECT ON installation TO tollgate_billing;
GRANT UPDATE (holds, recorded_at) ON installation TO tollgate_billing;

-- Money that somebody let go out, of whatever account and by whatever command. What one person decided without a second one
-- adds up over a day of UTC.
CREATE TABLE outflows (
  id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  actor        text NOT NULL,                  -- user:{id}, or cli:{login} before there is an administrator
  day          date NOT NULL,                  -- of UTC
  kind         text NOT NULL,                  -- such as charge.refund
  limit_name   text NOT NULL REFERENCES desk_limits,
  amount       bigint NOT NULL CHECK (amount >= 0), -- nanos
  reference    text NOT NULL,                  -- what it was decided about
  account_id   text REFERENCES accounts,
  approved_by  text,                           -- the second person, where one was needed
  alone_limit  bigint NOT NULL,                -- what one person could let out alone that day
  recorded_at  timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX outflows_alone ON outflows (actor, day, limit_name) WHERE approved_by IS NULL;
CALL make_append_only('outflows');
GRANT SELECT, INSERT ON outflows TO tollgate_billing;

-- Who of the staff made an account, or asked for the roles of its person: they decide nothing about it.
CREATE TABLE account_makers (
  account_id   text NOT NULL REFERENCES accounts,
  maker_id     text NOT NULL REFERENCES users,
  how          text NOT NULL CHECK (how IN ('created', 'granted')),
  recorded_at  timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (account_id, maker_id)
);
CALL make_append_only('account_makers');
GRANT SELECT, INSERT ON account_makers TO tollgate_billing;

-- Everybody who was ever an administrator: the exceptions for the first ones do not come back when people go.
CREATE TABLE administrators (
  user_id  text PRIMARY KEY REFERENCES users,
  since    timestamptz NOT NULL DEFAULT now()
);
CALL make_append_only('administrators');
GRANT SELECT, INSERT ON administrators TO tollgate_billing;
INSERT INTO administrators (user_id) SELECT id FROM users WHERE 'admin' = ANY (roles);

CREATE FUNCTION note_administrator() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  INSERT INTO public.administrators (user_id) VALUES (NEW.id) ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
REVOKE EXECUTE ON FUNCTION note_administrator() FROM PUBLIC;
CREATE TRIGGER administrator AFTER INSERT OR UPDATE OF roles ON users
  FOR EACH ROW WHEN ('admin' = ANY (NEW.roles)) EXECUTE FUNCTION note_administrator();

-- What one person decided that needs two elsewhere.
CREATE TABLE done_alone (
  id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  actor        text NOT NULL,                  -- user:{id}
  why          text NOT NULL CHECK (why IN ('own-interest', 'second-person')),
  subject      text NOT NULL,
  account_id   text REFERENCES accounts,
  recorded_at  timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX done_alone_time ON done_alone (recorded_at);
CALL make_append_only('done_alone');
GRANT SELECT, INSERT ON done_alone TO tollgate_billing;

-- Two people are two, unless the installation declares that there is one.
CREATE FUNCTION require_two_people() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM public.installation WHERE fact = 'one-person' AND holds) THEN
    RAISE EXCEPTION 'two_people: a second person must agree' USING ERRCODE = 'check_violation', CONSTRAINT = 'two_people';
  END IF;
  RETURN NEW;
END $$;
REVOKE EXECUTE ON FUNCTION require_two_people() FROM PUBLIC;
ALTER TABLE approvals DROP CONSTRAINT another_person_decides;
ALTER TABLE approvals ADD COLUMN self boolean NOT NULL GENERATED ALWAYS AS (coalesce(decided_by = requested_by, false)) STORED;
ALTER TABLE charge_refunds DROP CONSTRAINT two_people;
ALTER TABLE adjustments DROP CONSTRAINT two_people;
ALTER TABLE write_offs DROP CONSTRAINT two_people;
ALTER TABLE provider_line_acceptances DROP CONSTRAINT another_person;
ALTER TABLE period_waivers DROP CONSTRAINT two_people;
CREATE TRIGGER two_people BEFORE INSERT OR UPDATE ON approvals
  FOR EACH ROW WHEN (NEW.decided_by = NEW.requested_by) EXECUTE FUNCTION require_two_people();
CREATE TRIGGER two_people BEFORE INSERT OR UPDATE ON charge_refunds
  FOR EACH ROW WHEN (NEW.approved_by = NEW.requested_by) EXECUTE FUNCTION require_two_people();
CREATE TRIGGER two_people BEFORE INSERT OR UPDATE ON adjustments
  FOR EACH ROW WHEN (NEW.approved_by = NEW.requested_by) EXECUTE FUNCTION require_two_people();
CREATE TRIGGER two_people BEFORE INSERT OR UPDATE ON write_offs
  FOR EACH ROW WHEN (NEW.approved_by = NEW.requested_by) EXECUTE FUNCTION require_two_people();
CREATE TRIGGER two_people BEFORE INSERT OR UPDATE ON provider_line_acceptances
  FOR EACH ROW WHEN (NEW.approved_by = NEW.requested_by) EXECUTE FUNCTION require_two_people();
CREATE TRIGGER two_people BEFORE INSERT OR UPDATE ON period_waivers
  FOR EACH ROW WHEN (NEW.approved_by = NEW.requested_by) EXECUTE FUNCTION require_two_people();

-- Who wrote the changes of a proposal as they are: another person confirms large ones. And whether one person confirmed what
-- needs two elsewhere.
ALTER TABLE price_proposals ADD COLUMN revised_by text;
ALTER TABLE price_proposals ADD COLUMN confirmed_alone boolean NOT NULL DEFAULT false;
GRANT UPDATE (revised_by, confirmed_alone) ON price_proposals TO tollgate_billing;
CREATE INDEX price_proposals_decided ON price_proposals (decided_by, decided_at) WHERE state = 'confirmed';
