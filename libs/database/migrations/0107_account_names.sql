-- The names that accounts had at their top-ups, so that a later name never changes a receipt. Erasure empties them. Top-ups from
-- before have none, and their receipts show the present name.
CREATE TABLE account_names (
  id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  account_id  text NOT NULL REFERENCES accounts,
  name        text,
  recorded_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX account_names_account ON account_names (account_id, id);
GRANT SELECT, INSERT, UPDATE (name) ON account_names TO tollgate_billing;

ALTER TABLE topups ADD COLUMN account_name_id bigint REFERENCES account_names;
