-- Money in: orders, payments and their events, rates, invites, refunds and disputes.

-- What one person may not do alone -----------------------------------------------------------------------------

CREATE TABLE approvals (
  id            text PRIMARY KEY,
  kind          text NOT NULL,                    -- registered by the room that applies it, such as topup.manual
  subject       text NOT NULL,                    -- kind:{id} of what it changes
  account_id    text REFERENCES accounts,         -- the customer concerned, if one is
  payload       jsonb NOT NULL,
  amount        bigint CHECK (amount >= 0),       -- nanos of credit, for those who decide
  reason        text NOT NULL,
  state         text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'approved', 'rejected')),
  requested_by  text NOT NULL REFERENCES users,
  request_id    text NOT NULL,                    -- of the request that asked, chosen by its client
  decided_by    text REFERENCES users,
  decision_note text,
  outcome       jsonb,
  created_at    timestamptz NOT NULL DEFAULT now(),
  decided_at    timestamptz,
  UNIQUE (requested_by, kind, request_id),
  CONSTRAINT another_person_decides CHECK (decided_by <> requested_by),
  CONSTRAINT decided_has_person CHECK ((state = 'pending') = (decided_by IS NULL) AND (state = 'pending') = (decided_at IS NULL))
);
CREATE INDEX approvals_pending ON approvals (id) WHERE state = 'pending';
GRANT SELECT, INSERT ON approvals TO tollgate_billing;
GRANT UPDATE (state, decided_by, decision_note, outcome, decided_at) ON approvals TO tollgate_billing;

-- Rates --------------------------------------------------------------------------------------------------------

-- What an account pays for one unit of credit. Without a version it is 1.3; there are no others than these two.
CREATE TABLE account_rate_versions (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  account_id      text NOT NULL REFERENCES accounts,
  rate            numeric(30, 18) NOT NULL CONSTRAINT known_rate CHECK (rate IN (1.3, 1.2)),
  effective_from  timestamptz NOT NULL,
  reason          text NOT NULL,
  actor           text NOT NULL,
  request_id      text NOT NULL,
  recorded_at     timestamptz NOT NULL DEFAULT now(),
  UNIQUE (account_id, effective_from),
  UNIQUE (account_id, request_id)
);
CALL make_append_only('account_rate_versions');
GRANT SELECT, INSERT ON account_rate_versions TO tollgate_billing;

-- Orders and payments ------------------------------------------------------------------------------------------

-- Intended top-ups. What is paid, at which rate and for how much credit is settled here and never computed again.
CREATE TABLE topup_orders (
  id                  text PRIMARY KEY,
  account_id          text NOT NULL REFERENCES accounts,
  request_id          text NOT NULL,
  request             jsonb NOT NULL,             -- what was asked for, to tell a repeat from another request
  provider            text NOT NULL CHECK (provider IN ('stripe', 'manual', 'sandbox')),
  credits             bigint NOT NULL CHECK (credits > 0),
  paid_minor          bigint NOT NULL CHECK (paid_minor > 0),
  currency            text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
  rate                numeric(30, 18) NOT NULL CONSTRAINT known_rate CHECK (rate IN (1.3, 1.2)),
  state               text NOT NULL DEFAULT 'open'
                        CHECK (state IN ('open', 'paid', 'expired', 'cancelled', 'refunded', 'disputed')),
  provider_reference  text,                       -- the provider's name for the checkout, once it is known
  checkout_url        text,
  payment_id          text,
  topup_id            text REFERENCES topups,
  created_at          timestamptz NOT NULL DEFAULT now(),
  expires_at          timestamptz NOT NULL,
  next_check_at       timestamptz NOT NULL,       -- when the provider is asked whether it was paid
  paid_at             timestamptz,
  UNIQUE (account_id, request_id),
  UNIQUE (provider, provider_reference),
  CONSTRAINT paid_has_topup CHECK ((state IN ('paid', 'refunded', 'disputed')) = (topup_id IS NOT NULL))
);
CREATE INDEX topup_orders_account ON topup_orders (account_id, id);
CREATE INDEX topup_orders_due ON topup_orders (next_check_at) WHERE state = 'open';
GRANT SELECT, INSERT ON topup_orders TO tollgate_billing;
GRANT UPDATE (state, provider_reference, checkout_url, payment_id, topup_id, next_check_at, paid_at) ON topup_orders
  TO tollgate_billing;

ALTER TABLE topups
  ADD COLUMN order_id text UNIQUE REFERENCES topup_orders,
  ADD CONSTRAINT known_rate CHECK (rate IN (1.3, 1.2));

-- Every event of a provider, once, with what became of it. The payload is what was understood of it, not its text,
-- which may name people.
CREATE TABLE payment_events (
  provider     text NOT NULL,
  event_id     text NOT NULL,
  type         text NOT NULL,                     -- the provider's word
  payload      jsonb NOT NULL,
  state        text NOT NULL CHECK (state IN ('applied', 'ignored', 'suspense', 'waiting')),
  detail       text NOT NULL,
  payment_id   text,
  order_id     text,
  attempts     integer NOT NULL DEFAULT 1,
  next_try_at  timestamptz,                       -- for one that waits for another
  received_at  timestamptz NOT NULL DEFAULT now(),
  handled_at   timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (provider, event_id)
);
CREATE INDEX payment_events_received ON payment_events (received_at, provider, event_id);
CREATE INDEX payment_events_waiting ON payment_events (next_try_at) WHERE state = 'waiting';
GRANT SELECT, INSERT ON payment_events TO tollgate_billing;
GRANT UPDATE (state, detail, attempts, next_try_at, handled_at) ON payment_events TO tollgate_billing;

-- Money at a provider that belongs to no order: kept in suspense until somebody says whose it is. Negative when money
-- left without our order.
CREATE TABLE suspense_items (
  id                    text PRIMARY KEY,
  provider              text NOT NULL,
  reference             text NOT NULL,            -- the payment's id, or the refund's or dispute's
  order_id              text REFERENCES topup_orders,
  amount_minor          bigint NOT NULL CHECK (amount_minor <> 0),
  currency              text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
  why                   text NOT NULL CHECK (why IN ('no_order', 'other_amount', 'other_currency', 'paid_twice',
                          'unknown_refund', 'refund_failed', 'dispute_beyond_payment')),
  state                 text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'credited', 'returned')),
  transaction_id        bigint NOT NULL REFERENCES ledger_transactions,
  cleared_transaction_id bigint REFERENCES ledger_transactions,
  cleared_by            text,
  cleared_at            timestamptz,
  note                  text,
  topup_id              text REFERENCES topups,
  created_at            timestamptz NOT NULL DEFAULT now(),
  UNIQUE (provider, reference, why),
  CONSTRAINT cleared_has_transaction CHECK ((state = 'open') = (cleared_transaction_id IS NULL)),
  CONSTRAINT credited_has_topup CHECK ((state = 'credited') = (topup_id IS NOT NULL))
);
CREATE INDEX suspense_items_open ON suspense_items (id) WHERE state = 'open';
GRANT SELECT, INSERT ON suspense_items TO tollgate_billing;
GRANT UPDATE (state, cleared_transaction_id, cleared_by, cleared_at, note, topup_id) ON suspense_items TO tollgate_billing;

-- What the sandbox provider knows of payments: its own books, not ours.
CREATE TABLE sandbox_payments (
  order_id      text PRIMARY KEY,
  payment_id    text NOT NULL UNIQUE,
  amount_minor  bigint NOT NULL,
  currency      text NOT NULL,
  paid_at       timestamptz NOT NULL DEFAULT now()
);
GRANT SELECT, INSERT ON sandbox_payments TO tollgate_billing;

INSERT INTO ledger_accounts (code, commodity, kind) VALUES
  ('psp:stripe', 'PAY', 'asset'), ('expense:chargeback-loss', 'PAY', 'expense');

-- Invites ------------------------------------------------------------------------------------------------------

-- The rewards of an invitee's first two top-ups; a top-up that is reversed later does not free its place.
CREATE TABLE invite_rewards (
  id                  text PRIMARY KEY,
  invitee_account_id  text NOT NULL REFERENCES invitations,
  inviter_account_id  text NOT NULL REFERENCES accounts,
  ordinal             smallint NOT NULL CHECK (ordinal IN (1, 2)),
  topup_id            text NOT NULL UNIQUE REFERENCES topups,
  amount              bigint NOT NULL CHECK (amount > 0),
  transaction_id      bigint NOT NULL REFERENCES ledger_transactions,
  recorded_at         timestamptz NOT NULL DEFAULT now(),
  UNIQUE (invitee_account_id, ordinal),
  CHECK (invitee_account_id <> inviter_account_id)
);
CREATE INDEX invite_rewards_inviter ON invite_rewards (inviter_account_id, id);
CALL make_append_only('invite_rewards');

-- What was taken back of a reward when its top-up was reversed. What the invite balance did not cover is owed: noted,
-- not collected. Negative when a dispute was won after all.
CREATE TABLE reward_clawbacks (
  reversal        text PRIMARY KEY,               -- refund:{id}, dispute:{provider}:{id} or won:{provider}:{id}
  reward_id       text NOT NULL REFERENCES invite_rewards,
  amount          bigint NOT NULL CHECK (amount <> 0),
  taken           bigint NOT NULL,
  owed            bigint GENERATED ALWAYS AS (amount - taken) STORED,
  transaction_id  bigint REFERENCES ledger_transactions,
  recorded_at     timestamptz NOT NULL DEFAULT now(),
  CHECK (abs(taken) <= abs(amount) AND (taken = 0) = (transaction_id IS NULL))
);
CREATE INDEX reward_clawbacks_reward ON reward_clawbacks (reward_id);
CALL make_append_only('reward_clawbacks');

CREATE TABLE invite_transfers (
  account_id      text NOT NULL REFERENCES accounts,
  request_id      text NOT NULL,
  amount          bigint NOT NULL CHECK (amount > 0),
  transaction_id  bigint NOT NULL REFERENCES ledger_transactions,
  recorded_at     timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (account_id, request_id)
);
CALL make_append_only('invite_transfers');
GRANT SELECT, INSERT ON invite_rewards, reward_clawbacks, invite_transfers TO tollgate_billing;

-- Reversals ----------------------------------------------------------------------------------------------------

-- Credits of a lot that left it without being used, or came back; and, as `debt`, credits that were used up by a debt
-- of a chargeback, with the part of the payment that made up for its loss.
CREATE TABLE credit_lot_changes (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  lot_id          bigint NOT NULL REFERENCES credit_lots,
  transaction_id  bigint REFERENCES ledger_transactions,
  kind            text NOT NULL CHECK (kind IN ('refund', 'refund-returned', 'chargeback', 'chargeback-won', 'debt')),
  credits         bigint NOT NULL,
  paid_minor      bigint NOT NULL,
  recorded_at     timestamptz NOT NULL DEFAULT now(),
  -- Credits that nobody paid for cover a debt without a posting.
  CHECK (transaction_id IS NOT NULL OR (kind = 'debt' AND paid_minor = 0))
);
CREATE INDEX credit_lot_changes_lot ON credit_lot_changes (lot_id);
CREATE INDEX credit_lots_topup ON credit_lots (topup_id) WHERE topup_id IS NOT NULL;
CALL make_append_only('credit_lot_changes');
GRANT SELECT, INSERT ON credit_lot_changes TO tollgate_billing;

-- The unused part of a top-up on its way back. While it is pending its credits are set aside; the provider is asked
-- under this id until it answers.
CREATE TABLE topup_refunds (
  id                    text PRIMARY KEY,
  topup_id              text NOT NULL REFERENCES topups,
  account_id            text NOT NULL REFERENCES accounts,
  credits               bigint NOT NULL CHECK (credits > 0),
  paid_minor            bigint NOT NULL CHECK (paid_minor > 0),
  reason                text NOT NULL,
  state                 text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'succeeded', 'failed')),
  provider_refund_id    text,
  failure               text,
  actor                 text NOT NULL,
  request_id            text NOT NULL,
  transaction_id        bigint NOT NULL REFERENCES ledger_transactions,
  ended_transaction_id  bigint REFERENCES ledger_transactions,
  attempts              integer NOT NULL DEFAULT 0,
  -- Whoever began it asks the provider at once; this is for when it could not.
  next_try_at           timestamptz NOT NULL DEFAULT now() + interval '10 seconds',
  created_at            timestamptz NOT NULL DEFAULT now(),
  ended_at              timestamptz,
  UNIQUE (topup_id, request_id),
  CONSTRAINT ended_has_transaction CHECK ((state = 'pending') = (ended_transaction_id IS NULL))
);
CREATE INDEX topup_refunds_account ON topup_refunds (account_id, id);
CREATE INDEX topup_refunds_due ON topup_refunds (next_try_at) WHERE state = 'pending';
GRANT SELECT, INSERT ON topup_refunds TO tollgate_billing;
GRANT UPDATE (state, provider_refund_id, failure, ended_transaction_id, attempts, next_try_at, ended_at) ON topup_refunds
  TO tollgate_billing;

CREATE TABLE disputes (
  provider                 text NOT NULL,
  dispute_id               text NOT NULL,
  topup_id                 text NOT NULL REFERENCES topups,
  account_id               text NOT NULL REFERENCES accounts,
  amount_minor             bigint NOT NULL CHECK (amount_minor > 0),
  state                    text NOT NULL CHECK (state IN ('open', 'won', 'lost')),
  -- What was taken back; none when it was won before we heard of it.
  credits                  bigint NOT NULL CHECK (credits >= 0),
  paid_minor               bigint NOT NULL CHECK (paid_minor >= 0),
  transaction_id           bigint REFERENCES ledger_transactions,
  reversal_transaction_id  bigint REFERENCES ledger_transactions,
  opened_at                timestamptz NOT NULL DEFAULT now(),
  closed_at                timestamptz,
  PRIMARY KEY (provider, dispute_id),
  CONSTRAINT closed_has_time CHECK ((state = 'open') = (closed_at IS NULL))
);
CREATE INDEX disputes_topup ON disputes (topup_id);
CREATE INDEX disputes_account ON disputes (account_id);
GRANT SELECT, INSERT ON disputes TO tollgate_billing;
GRANT UPDATE (state, reversal_transaction_id, closed_at) ON disputes TO tollgate_billing;

-- A freeze that a debt made ends with the debt, whatever posting ends it; one that people made stays.
CREATE FUNCTION end_freeze_of_debt() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.frozen := false;
  NEW.frozen_reason := NULL;
  RETURN NEW;
END $$;
CREATE TRIGGER debt_paid BEFORE UPDATE ON customer_balances FOR EACH ROW
  WHEN (NEW.frozen AND NEW.frozen_reason = 'debt' AND NEW.main >= 0) EXECUTE FUNCTION end_freeze_of_debt();
