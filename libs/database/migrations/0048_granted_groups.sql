-- Groups that an account may make keys in: open ones, and those that somebody granted it. Keys of a group that an account
-- does not have (any more) are refused where money is held.

ALTER TABLE groups ADD COLUMN open boolean NOT NULL DEFAULT false;
UPDATE groups SET open = true WHERE name IN ('Vendora-Main', 'Public-Relay');

CREATE TABLE account_groups (
  account_id  text NOT NULL REFERENCES accounts,
  group_name  text NOT NULL REFERENCES groups,
  granted_by  text NOT NULL,
  ticket_id   text REFERENCES tickets,
  granted_at  timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (account_id, group_name)
);
GRANT SELECT, INSERT, DELETE ON account_groups TO tollgate_billing;

-- Nobody loses what their live keys use.
INSERT INTO account_groups (account_id, group_name, granted_by)
SELECT DISTINCT k.account_id, k.group_name, 'system' FROM api_keys k JOIN groups g ON g.name = k.group_name
WHERE k.revoked_at IS NULL AND NOT g.open;
