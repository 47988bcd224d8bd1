-- Work that was delivered after its hold had been released. Its charge says nothing about it, and its upstream bills it.
CREATE TABLE late_deliveries (
  charge_id    text PRIMARY KEY REFERENCES charges,
  channel_id   text NOT NULL REFERENCES channels,
  units        bigint NOT NULL CHECK (units > 0),
  lines        jsonb,                              -- of metered work
  recorded_at  timestamptz NOT NULL DEFAULT now()
);
CALL make_append_only('late_deliveries');
GRANT SELECT, INSERT ON late_deliveries TO tollgate_billing;
COMMENT ON TABLE late_deliveries IS 'work delivered after its hold had been released, which only its operator pays for';
