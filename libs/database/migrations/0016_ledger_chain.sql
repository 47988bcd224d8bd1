-- Tamper evidence: a hash chain over the ledger's transactions, built behind the postings in blocks.

-- A block is about every transaction whose id is after the last one of the block before and up to its own last one; an id in
-- between that no transaction had is sealed as absent. `hash` is of a text that has every other column in it.
CREATE TABLE ledger_chain_blocks (
  number             bigint PRIMARY KEY CHECK (number > 0),
  previous_hash      bytea NOT NULL CHECK (length(previous_hash) = 32),
  first_id           bigint NOT NULL,
  last_id            bigint NOT NULL,
  transaction_count  integer NOT NULL CHECK (transaction_count > 0),
  entry_count        integer NOT NULL CHECK (entry_count >= 0),
  -- Of the hashes of the ledger accounts that it seals, then of its transactions, in full.
  digest             bytea NOT NULL CHECK (length(digest) = 32),
  leaves_hash        bytea NOT NULL CHECK (length(leaves_hash) = 32),
  hash               bytea NOT NULL UNIQUE CHECK (length(hash) = 32),
  sealed_at          timestamptz NOT NULL,
  CHECK (first_id <= last_id)
);
CALL make_append_only('ledger_chain_blocks');

-- What names the row that was touched: the ids of a block's ledger accounts and transactions with the beginning of the hash
-- of each, how many entries there were, and a check sum of each row. It is not compressed, since hashes cannot be.
CREATE TABLE ledger_chain_leaves (
  block_number  bigint PRIMARY KEY REFERENCES ledger_chain_blocks,
  leaves        bytea NOT NULL
);
ALTER TABLE ledger_chain_leaves ALTER COLUMN leaves SET STORAGE EXTERNAL;
CALL make_append_only('ledger_chain_leaves');

-- A ledger account is sealed with the first block whose entries name it; this is how the builder finds those that are. That
-- it tells the truth is verified by the leaves.
CREATE TABLE ledger_chain_accounts (
  ledger_account_id  bigint PRIMARY KEY,
  block_number       bigint NOT NULL REFERENCES ledger_chain_blocks
);
CALL make_append_only('ledger_chain_accounts');

GRANT SELECT, INSERT ON ledger_chain_blocks, ledger_chain_leaves, ledger_chain_accounts TO tollgate_billing;

-- Hours -------------------------------------------------------------------------------------------------------

-- Where hours of UTC lie among the ids of transactions, for statements that begin or end within a day. Derived, as the
-- balances of days are: with fewer of them, or none, every answer is the same.
CREATE TABLE ledger_hours (
  at        timestamptz PRIMARY KEY,  -- the end of the hour
  last_id   bigint NOT NULL,          -- no transaction that was recorded before has a larger id
  first_id  bigint NOT NULL           -- no transaction that is recorded later has a smaller one
);
-- What the accounts of the house, on which nearly every transaction has an entry, moved by in an hour.
CREATE TABLE ledger_hour_movements (
  ledger_account_id  bigint NOT NULL REFERENCES ledger_accounts,
  at                 timestamptz NOT NULL REFERENCES ledger_hours ON DELETE CASCADE,
  amount             numeric(30) NOT NULL,
  PRIMARY KEY (ledger_account_id, at)
);
CREATE INDEX ledger_hour_movements_at ON ledger_hour_movements (at);
GRANT SELECT, INSERT, DELETE ON ledger_hours, ledger_hour_movements TO tollgate_billing;
