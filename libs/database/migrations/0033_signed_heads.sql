-- Signatures over the heads of the hash chain (Ed25519), by a key that is not in the database: who may do everything here can
-- write rows and chain anew, and still not sign what comes out. A signed block vouches for every block before it.
CREATE TABLE ledger_chain_signatures (
  block_number  bigint NOT NULL REFERENCES ledger_chain_blocks,
  -- The beginning of SHA-256 of the public key, as SubjectPublicKeyInfo.
  key_id        text NOT NULL CHECK (key_id ~ '^[0-9a-f]{16}$'),
  signature     bytea NOT NULL CHECK (length(signature) = 64),
  signed_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (block_number, key_id)
);
CALL make_append_only('ledger_chain_signatures');
GRANT SELECT, INSERT ON ledger_chain_signatures TO tollgate_billing;
