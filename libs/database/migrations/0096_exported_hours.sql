-- The hours whose requests were exported. A row follows its object: where the row is missing, the object is written again, with
-- the same lines.
CREATE TABLE exported_hours (
  hour        timestamptz PRIMARY KEY CHECK (extract(epoch FROM hour) % 3600 = 0),
  lines       bigint NOT NULL CHECK (lines >= 0),
  bytes       bigint NOT NULL CHECK (bytes > 0),
  sha256      text NOT NULL CHECK (sha256 ~ '^[0-9a-f]{64}$'),
  written_at  timestamptz NOT NULL DEFAULT now()
);
COMMENT ON COLUMN exported_hours.hour IS 'the beginning of an hour of UTC';
COMMENT ON COLUMN exported_hours.bytes IS 'of the object as it is stored, as is its sha256';
GRANT SELECT, INSERT, UPDATE ON exported_hours TO tollgate_billing;
