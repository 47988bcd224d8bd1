-- Whom receipts and statements name as the buyer, each version as the account entered it. A top-up keeps the version that was the
-- newest when it was recorded, so that later ones never change its receipt. Erasure empties the versions.
CREATE TABLE billing_details (
  id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  account_id  text NOT NULL REFERENCES accounts,
  name        text,
  address     text,
  tax_id      text,
  recorded_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX billing_details_account ON billing_details (account_id, id);
GRANT SELECT, INSERT, UPDATE (name, address, tax_id) ON billing_details TO tollgate_billing;

ALTER TABLE topups ADD COLUMN billing_details_id bigint REFERENCES billing_details;
