-- Somebody wants to be reached at another address. It is theirs once the link of the mail that went there was followed;
-- the hash of the link's token is stored when that mail goes out.
CREATE TABLE email_changes (
  id          text PRIMARY KEY,
  user_id     text NOT NULL REFERENCES users,
  email       text NOT NULL CHECK (email = lower(email) AND length(email) <= 254),
  token_hash  bytea UNIQUE CHECK (length(token_hash) = 32),
  expires_at  timestamptz NOT NULL,
  created_at  timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX email_changes_user ON email_changes (user_id);
CREATE INDEX email_changes_expiry ON email_changes (expires_at);
GRANT SELECT, INSERT, UPDATE, DELETE ON email_changes TO tollgate_billing;
