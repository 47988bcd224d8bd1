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

GRANT SELECT, INSERT ON invitations TO tollgate_billing;
GRANT SELECT, INSERT ON users, sessions, audit_log TO tollgate_billing;
GRANT UPDATE (email, password_hash, roles, totp_secret, totp_confirmed_at, totp_last_step, disabled_at) ON users
  TO tollgate_billing;
GRANT UPDATE (token_hash, previous_token_hash, csrf_token, rotated_at, last_seen_at, expires_at, revoked_at) ON sessions
  TO tollgate_billing;
GRANT DELETE ON sessions TO tollgate_billing;
