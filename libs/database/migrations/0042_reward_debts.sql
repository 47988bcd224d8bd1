-- What is taken back of a reward comes from the invite balance first, and then from main, where a reward may have gone. What
-- neither covers is owed, and the next credits pay it.

ALTER TABLE reward_clawbacks
  ADD COLUMN from_main bigint NOT NULL DEFAULT 0,
  ADD CONSTRAINT part_is_from_main CHECK (abs(from_main) <= abs(taken) AND from_main::numeric * taken >= 0);

-- Below 0: it was paid for a reward that turned out not to be owed, and came back as invite balance.
CREATE TABLE reward_debt_payments (
  id              text PRIMARY KEY,
  account_id      text NOT NULL REFERENCES accounts,
  amount          bigint NOT NULL CHECK (amount <> 0),
  from_main       bigint NOT NULL CHECK (abs(from_main) <= abs(amount) AND from_main::numeric * amount >= 0),
  transaction_id  bigint NOT NULL REFERENCES ledger_transactions,
  recorded_at     timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX reward_debt_payments_account ON reward_debt_payments (account_id);
CALL make_append_only('reward_debt_payments');
GRANT SELECT, INSERT ON reward_debt_payments TO tollgate_billing;

-- What is owed of rewards of payments that went back, by account.
CREATE VIEW reward_debts AS
  SELECT account_id, sum(owed)::bigint AS owed FROM (
    SELECT r.inviter_account_id AS account_id, c.owed FROM reward_clawbacks c JOIN invite_rewards r ON r.id = c.reward_id
    UNION ALL SELECT account_id, -amount FROM reward_debt_payments) AS facts
  GROUP BY account_id;
GRANT SELECT ON reward_debts TO tollgate_billing;
