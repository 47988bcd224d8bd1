-- What payment providers and the bank say themselves of the money: their reports, line by line, to be compared with ours.

INSERT INTO ledger_accounts (code, commodity, kind) VALUES
  ('bank', 'PAY', 'asset'), ('expense:psp-fee', 'PAY', 'expense');

-- What a provider took or gave without a word that we know.
ALTER TABLE suspense_items DROP CONSTRAINT suspense_items_why_check;
ALTER TABLE suspense_items ADD CONSTRAINT suspense_items_why_check CHECK (why IN ('no_order', 'other_amount',
  'other_currency', 'paid_twice', 'unknown_refund', 'refund_failed', 'dispute_beyond_payment', 'provider_adjustment'));

-- Money that left for what must be a cost leaves suspense as one.
ALTER TABLE suspense_items DROP CONSTRAINT suspense_items_state_check;
ALTER TABLE suspense_items ADD CONSTRAINT suspense_items_state_check
  CHECK (state IN ('open', 'credited', 'returned', 'expensed'));

-- An account at a bank, with how its files are read: said once.
CREATE TABLE bank_accounts (
  id          text PRIMARY KEY CHECK (id ~ '^[a-z0-9][a-z0-9-]{0,39}$'),
  mapping     jsonb NOT NULL,
  actor       text NOT NULL,
  created_at  timestamptz NOT NULL DEFAULT now(),
  updated_at  timestamptz NOT NULL DEFAULT now()
);
GRANT SELECT, INSERT ON bank_accounts TO tollgate_billing;
GRANT UPDATE (mapping, actor, updated_at) ON bank_accounts TO tollgate_billing;

-- Imports. Only for the time that a report covers can something be missing there.
CREATE TABLE provider_reports (
  id               text PRIMARY KEY,
  provider         text NOT NULL CHECK (provider IN ('stripe', 'sandbox', 'bank')),
  bank_account_id  text REFERENCES bank_accounts,
  source           text NOT NULL CHECK (source IN ('csv', 'api', 'table')),
  sha256           text,                             -- of the file
  holds            text NOT NULL CHECK (holds IN ('activity', 'payouts', 'all')),
  covers           tstzrange,                        -- null until it is whole, and for a file without lines
  lines            integer NOT NULL DEFAULT 0,
  added            integer NOT NULL DEFAULT 0,
  changed          integer NOT NULL DEFAULT 0,       -- known before with other content
  actor            text NOT NULL,                    -- user:{id}, operator or system
  started_at       timestamptz NOT NULL DEFAULT clock_timestamp(),
  finished_at      timestamptz,
  CONSTRAINT bank_has_account CHECK ((provider = 'bank') = (bank_account_id IS NOT NULL))
);
CREATE INDEX provider_reports_coverage ON provider_reports (provider, bank_account_id) WHERE covers IS NOT NULL;
GRANT SELECT, INSERT ON provider_reports TO tollgate_billing;
GRANT UPDATE (covers, lines, added, changed, finished_at) ON provider_reports TO tollgate_billing;

-- A movement of our balance at a provider, under the provider's own id. Nothing that names a person is kept.
CREATE TABLE provider_report_lines (
  id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  provider      text NOT NULL CHECK (provider IN ('stripe', 'sandbox')),
  line_id       text NOT NULL CHECK (length(line_id) <= 200),
  report_id     text NOT NULL REFERENCES provider_reports,
  type          text NOT NULL CHECK (type IN ('payment', 'refund', 'refund_failure', 'dispute', 'dispute_reversal', 'fee',
                  'payout', 'payout_failure', 'adjustment')),
  amount_minor  bigint NOT NULL,                     -- positive when it came to us
  fee_minor     bigint NOT NULL,                     -- what the provider kept of it; negative when it gave a fee back
  net_minor     bigint GENERATED ALWAYS AS (amount_minor - fee_minor) STORED,
  currency      text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
  happened_at   timestamptz NOT NULL,
  available_on  date,
  -- What it is about, as our books name it: the payment, refund, dispute or payout; the line itself when it is none of them.
  subject_id    text NOT NULL CHECK (length(subject_id) <= 200),
  payment_id    text,                                -- the payment concerned, if one is
  description   text NOT NULL DEFAULT '' CHECK (length(description) <= 200),
  recorded_at   timestamptz NOT NULL DEFAULT now(),
  UNIQUE (provider, line_id)
);
CREATE INDEX provider_report_lines_time ON provider_report_lines (provider, happened_at);
CREATE INDEX provider_report_lines_subject ON provider_report_lines (provider, subject_id);
CALL make_append_only('provider_report_lines');

-- The same line, told otherwise later.
CREATE TABLE provider_line_changes (
  id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  line         bigint NOT NULL REFERENCES provider_report_lines,
  report_id    text NOT NULL REFERENCES provider_reports,
  content      jsonb NOT NULL,                       -- what was said now
  recorded_at  timestamptz NOT NULL DEFAULT now(),
  UNIQUE (line, content)
);
CALL make_append_only('provider_line_changes');

-- Which payout brought a line to the bank; often known only after the line.
CREATE TABLE provider_line_payouts (
  line         bigint PRIMARY KEY REFERENCES provider_report_lines,
  provider     text NOT NULL,
  payout_id    text NOT NULL CHECK (length(payout_id) <= 200),
  report_id    text NOT NULL REFERENCES provider_reports,
  recorded_at  timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX provider_line_payouts_payout ON provider_line_payouts (provider, payout_id);
CALL make_append_only('provider_line_payouts');

-- Lines whose postings are still to be made, and those that were.
CREATE TABLE provider_line_work (
  line  bigint PRIMARY KEY REFERENCES provider_report_lines
);
CREATE TABLE provider_line_postings (
  line            bigint NOT NULL REFERENCES provider_report_lines,
  kind            text NOT NULL CHECK (kind IN ('psp-fee', 'payout', 'payout-returned', 'suspense')),
  transaction_id  bigint NOT NULL REFERENCES ledger_transactions,
  PRIMARY KEY (line, kind)
);
CREATE INDEX provider_line_postings_transaction ON provider_line_postings (transaction_id);
CALL make_append_only('provider_line_postings');
GRANT SELECT, INSERT ON provider_report_lines, provider_line_changes, provider_line_payouts, provider_line_work,
  provider_line_postings TO tollgate_billing;
GRANT DELETE ON provider_line_work TO tollgate_billing;

-- A movement on an account at the bank.
CREATE TABLE bank_lines (
  id               bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  bank_account_id  text NOT NULL REFERENCES bank_accounts,
  line_id          text NOT NULL CHECK (length(line_id) <= 200), -- the bank's, or made of the content and its ordinal
  report_id        text NOT NULL REFERENCES provider_reports,
  booked_on        date NOT NULL,
  amount_minor     bigint NOT NULL CHECK (amount_minor <> 0),
  currency         text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
  reference        text NOT NULL CHECK (length(reference) <= 500),
  recorded_at      timestamptz NOT NULL DEFAULT now(),
  UNIQUE (bank_account_id, line_id)
);
CREATE INDEX bank_lines_day ON bank_lines (booked_on, id);
CALL make_append_only('bank_lines');

-- What a line at the bank is: a payout of a provider, a transfer that was recorded as a top-up, one that was sent back, or
-- nothing of ours. A wrong one is undone and stays to be seen.
CREATE TABLE bank_matches (
  id                     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  bank_line_id           bigint NOT NULL REFERENCES bank_lines,
  kind                   text NOT NULL CHECK (kind IN ('payout', 'topup', 'refund', 'suspense', 'none')),
  -- provider:{payout id}, the top-up's, refund's or suspense item's id; empty for none
  subject                text NOT NULL,
  actor                  text NOT NULL,
  note                   text,
  transaction_id         bigint REFERENCES ledger_transactions,
  recorded_at            timestamptz NOT NULL DEFAULT now(),
  undone_transaction_id  bigint REFERENCES ledger_transactions,
  undone_by              text,
  undone_at              timestamptz,
  CONSTRAINT undone_has_person CHECK ((undone_at IS NULL) = (undone_by IS NULL))
);
CREATE UNIQUE INDEX bank_matches_line ON bank_matches (bank_line_id) WHERE undone_at IS NULL;
CREATE UNIQUE INDEX bank_matches_subject ON bank_matches (kind, subject) WHERE undone_at IS NULL AND kind <> 'none';
CREATE INDEX bank_matches_transaction ON bank_matches (transaction_id);
GRANT SELECT, INSERT ON bank_lines, bank_matches TO tollgate_billing;
GRANT UPDATE (undone_transaction_id, undone_by, undone_at) ON bank_matches TO tollgate_billing;

-- The sandbox's own books know of every payment that was played, and of refunds too.
INSERT INTO sandbox_payments (order_id, payment_id, amount_minor, currency, paid_at)
  SELECT payment_id, payment_id, paid_minor, currency, recorded_at FROM topups WHERE provider = 'sandbox'
  ON CONFLICT DO NOTHING;
CREATE TABLE sandbox_refunds (
  refund_id     text PRIMARY KEY,                    -- as we asked for it
  payment_id    text NOT NULL,
  amount_minor  bigint NOT NULL,
  currency      text NOT NULL,
  refunded_at   timestamptz NOT NULL DEFAULT now()
);
GRANT SELECT, INSERT ON sandbox_refunds TO tollgate_billing;
INSERT INTO sandbox_refunds (refund_id, payment_id, amount_minor, currency, refunded_at)
  SELECT r.id, t.payment_id, r.paid_minor, t.currency, r.ended_at FROM topup_refunds r JOIN topups t ON t.id = r.topup_id
  WHERE t.provider = 'sandbox' AND r.state = 'succeeded';
