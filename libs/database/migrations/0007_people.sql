-- Who uses the console: people, their sessions, and what operators changed.

-- The code that an account invites others with: ten letters and digits that nobody mistakes for each other.
CREATE FUNCTION new_invite_code() RETURNS text LANGUAGE sql VOLATILE AS $$
  SELECT string_agg(substr('abcdefghjkmnpqrstuvwxyz023456789', 1 + (get_byte(random.bytes, place) & 31), 1), '')
  FROM (SELECT uuid_send(gen_random_uuid()) AS bytes) AS random, unnest(ARRAY[0, 1, 2, 3, 4, 5, 9, 10, 11, 12]) AS place
$$;
ALTER TABLE accounts ADD COLUMN invite_code text NOT NULL DEFAULT new_invite_code() UNIQUE;

-- Who was invited by whom: said once, when the invitee signs up.
CREATE TABLE invitations (
  invitee_account_id  text PRIMARY KEY REFERENCES accounts,
  inviter_account_id  text NOT NULL REFERENCES accounts,
  created_at          timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT nobody_invites_themselves CHECK (invitee_account_id <> inviter_account_id)
);
CREATE INDEX invitations_inviter ON invitations (inviter_account_id, invitee_account_id);
CALL make_append_only('invitations');

-- A ring of invitations would pay rewards round and round.
CREATE FUNCTION refuse_invitation_loop() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (
    WITH RECURSIVE above AS (
      SELECT NEW.inviter_account_id AS account_id
      UNION SELECT i.inviter_account_id FROM above JOIN invitations i ON i.invitee_account_id = above.account_id
    )
    SELECT FROM above WHERE account_id = NEW.invitee_account_id
  ) THEN
    RAISE EXCEPTION 'account % is above its inviter', NEW.invitee_account_id
      USING ERRCODE = 'check_violation', CONSTRAINT = 'no_invitation_loop';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER no_loop BEFORE INSERT ON invitations FOR EACH ROW EXECUTE FUNCTION refuse_invitation_loop();

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

-- Somebody asked to sign up. Nothing else exists until they followed the link of the mail, so nobody can take an address
-- that is another's. The hash of the link's token is stored when the mail goes out.
CREATE TABLE sign_ups (
  id           text PRIMARY KEY,
  email        text NOT NULL CHECK (email = lower(email) AND length(email) <= 254),
  invite_code  text,
  token_hash   bytea UNIQUE CHECK (length(token_hash) = 32),
  expires_at   timestamptz NOT NULL,
  created_at   timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX sign_ups_email ON sign_ups (email);
CREATE INDEX sign_ups_expiry ON sign_ups (expires_at);

-- A link that lets its owner set a password without the one before: each is good once.
CREATE TABLE password_resets (
  token_hash  bytea PRIMARY KEY CHECK (length(token_hash) = 32),
  user_id     text NOT NULL REFERENCES users,
  expires_at  timestamptz NOT NULL,
  created_at  timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX password_resets_user ON password_resets (user_id);
CREATE INDEX password_resets_expiry ON password_resets (expires_at);

-- In place of a one-time code when the device is lost: each is good once.
CREATE TABLE recovery_codes (
  user_id    text NOT NULL REFERENCES users,
  code_hash  bytea NOT NULL CHECK (length(code_hash) = 32),
  used_at    timestamptz,
  PRIMARY KEY (user_id, code_hash)
);

-- Tries of a window of time, counted for all processes together before each is made; the subject is a hash.
CREATE TABLE attempts (
  subject     text PRIMARY KEY,
  count       integer NOT NULL,
  expires_at  timestamptz NOT NULL
) WITH (fillfactor = 50);
CREATE INDEX attempts_expiry ON attempts (expires_at);

-- Mail to send, written by the transaction that is its reason. Its text is made when it goes out, and links get their
-- tokens then, so no secret stands here. A row with a topic's event is written once, however often the event comes.
CREATE TABLE mail_outbox (
  id               bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  template         text NOT NULL,
  recipient        text NOT NULL CHECK (length(recipient) <= 254),
  details          jsonb NOT NULL DEFAULT '{}',
  event            text UNIQUE,
  attempts         integer NOT NULL DEFAULT 0,
  next_attempt_at  timestamptz NOT NULL DEFAULT now(),
  last_error       text,
  ended_at         timestamptz,                   -- sent, or given up: last_error says why
  created_at       timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX mail_outbox_due ON mail_outbox (next_attempt_at) WHERE ended_at IS NULL;
CREATE INDEX mail_outbox_ended ON mail_outbox (ended_at) WHERE ended_at IS NOT NULL;

-- What the owner of a key wants it limited to; null: not at all. `key_prefix` tells keys apart in lists.
ALTER TABLE api_keys
  ADD COLUMN total_limit_nanos bigint CHECK (total_limit_nanos >= 0),
  ADD COLUMN allowed_ips text[] CHECK (cardinality(allowed_ips) BETWEEN 1 AND 100),
  ADD COLUMN last_used_at timestamptz,
  ADD COLUMN key_prefix text;
CREATE INDEX api_keys_prefix ON api_keys (key_prefix);
GRANT UPDATE (total_limit_nanos, allowed_ips, last_used_at) ON api_keys TO tollgate_billing;

-- What the owner of an account wants all its keys limited to in a UTC month, and when to be told that the balance runs
-- low: once for each time that a hold takes it below the threshold.
ALTER TABLE customer_balances
  ADD COLUMN monthly_limit bigint CHECK (monthly_limit >= 0),
  ADD COLUMN low_balance_threshold bigint CHECK (low_balance_threshold > 0),
  ADD COLUMN low_balance_told boolean NOT NULL DEFAULT false;
GRANT UPDATE (monthly_limit, low_balance_threshold, low_balance_told) ON customer_balances TO tollgate_billing;

-- A credit of any kind that brings the balance back makes the next crossing worth telling; what a release gives back does
-- not, or each call near the threshold would tell. Credits raise what main and held come to together; releases do not.
CREATE FUNCTION forget_low_balance() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.low_balance_told := false;
  RETURN NEW;
END $$;
CREATE TRIGGER balance_recovered BEFORE UPDATE ON customer_balances FOR EACH ROW
  WHEN (OLD.low_balance_told AND NEW.low_balance_told AND NEW.main >= NEW.low_balance_threshold
    AND NEW.main + NEW.held > OLD.main + OLD.held)
  EXECUTE FUNCTION forget_low_balance();

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
CREATE INDEX audit_log_actor ON audit_log (actor, id);
CALL make_append_only('audit_log');

GRANT SELECT, INSERT ON invitations TO tollgate_billing;
GRANT SELECT, INSERT ON users, sessions, audit_log TO tollgate_billing;
GRANT UPDATE (email, password_hash, roles, totp_secret, totp_confirmed_at, totp_last_step, disabled_at) ON users
  TO tollgate_billing;
GRANT UPDATE (token_hash, previous_token_hash, csrf_token, rotated_at, last_seen_at, expires_at, revoked_at) ON sessions
  TO tollgate_billing;
GRANT DELETE ON sessions TO tollgate_billing;
GRANT SELECT, INSERT, UPDATE, DELETE ON sign_ups, password_resets, recovery_codes, attempts, mail_outbox
  TO tollgate_billing;

-- Support looks people and accounts up by how their names begin.
CREATE INDEX users_email_prefix ON users (email text_pattern_ops);
CREATE INDEX accounts_name_prefix ON accounts (lower(name) text_pattern_ops);
