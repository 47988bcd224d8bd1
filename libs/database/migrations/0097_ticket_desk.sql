-- The assignee of a ticket, and since when its customer has waited: to the millisecond, so that pages can be cut by it.
ALTER TABLE tickets
  ADD COLUMN assignee_id text REFERENCES users,
  ADD COLUMN waiting_since timestamptz(3);
UPDATE tickets SET waiting_since = updated_at WHERE state = 'open';
GRANT UPDATE (assignee_id) ON tickets TO tollgate_billing;
CREATE INDEX tickets_waiting_longest ON tickets (waiting_since, id) WHERE state = 'open';
COMMENT ON COLUMN tickets.waiting_since IS 'of an open ticket alone: when it was opened, or its customer wrote after an answer';

-- Whoever changes the state sets the time with it.
-- The version before works on: the trigger note_waiting of tickets is new.
CREATE FUNCTION note_waiting() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.state <> 'open' THEN
    NEW.waiting_since := NULL;
  ELSIF TG_OP = 'INSERT' OR OLD.state <> 'open' THEN
    NEW.waiting_since := now();
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER note_waiting BEFORE INSERT OR UPDATE OF state ON tickets FOR EACH ROW EXECUTE FUNCTION note_waiting();
