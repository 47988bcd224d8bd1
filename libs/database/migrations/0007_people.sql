-- Who uses the console: people, their sessions, and what operators changed.

-- Every person has an account of customers' kind; staff has further roles.
CREATE TABLE users (
  id                 text PRIMARY KEY,
  account_id         text NOT NULL UNIQUE REFERENCES accounts,
  email              text NOT NULL UNIQUE CHECK (email = lower(email) AND length(email) <= 254),
  password_hash      text NOT NULL,               -- argon2id
  roles              text[] NOT NULL DEFAULT '{user}',
  totp_secret        text,                        -- base32; in force once confirmed
  totp_confirmed_at  timestamptz,
  totp_last_step     bigint,                      -- a code is good once
  disabled_at        timestamptz,
  created_at         timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT known_roles CHECK (roles <@ ARRAY['user', 'support', 'finance', 'admin'] AND 'user' = ANY (roles))
);

-- The token is in a cookie; here is its hash. It is exchanged now and then, and the one before is good for a moment
-- longer, since requests with it may be under way.
CREATE TABLE sessions (
  id                   text PRIMARY KEY,
  user_id              text NOT NULL REFERENCES users,
  token_hash           bytea NOT NULL UNIQUE CHECK (length(token_hash) = 32),
  previous_token_hash  bytea,
  csrf_token           text NOT NULL,
  rotated_at           timestamptz NOT NULL DEFAULT now(),
  last_seen_at         timestamptz NOT NULL DEFAULT now(),
  expires_at           timestamptz NOT NULL,
  revoked_at           timestamptz,
  ip                   text,
  user_agent           text,
  created_at           timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX sessions_user ON sessions (user_id);
CREATE INDEX sessions_previous ON sessions (previous_token_hash) WHERE previous_token_hash IS NOT NULL;

-- What operators change, and what people change about their own access.
CREATE TABLE audit_log (
  id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  actor        text NOT NULL,                     -- user:{id}, cli:{login} or system
  action       text NOT NULL,                     -- such as price.proposed
  subject      text NOT NULL,                     -- kind:{id}, such as model:imgmodel-4
  account_id   text,                              -- the customer concerned, if one is
  before       jsonb,
  after        jsonb,
  request_id   text,
  recorded_at  timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX audit_log_subject ON audit_log (subject, id);
CREATE INDEX audit_log_account ON audit_log (account_id, id) WHERE account_id IS NOT NULL;
CALL make_append_only('audit_log');

GRANT SELECT, INSERT ON users, sessions, audit_log TO tollgate_billing;
GRANT UPDATE (email, password_hash, roles, totp_secret, totp_confirmed_at, totp_last_step, disabled_at) ON users
  TO tollgate_billing;
GRANT UPDATE (token_hash, previous_token_hash, csrf_token, rotated_at, last_seen_at, expires_at, revoked_at) ON sessions
  TO tollgate_billing;
GRANT DELETE ON sessions TO tollgate_billing;
