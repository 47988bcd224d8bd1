-- A refund may fail after a bank took its payment as well. Then its credits belong to the dispute: these are parts of what
-- `disputes` says that it took.
CREATE TABLE dispute_refunds (
  provider    text NOT NULL,
  dispute_id  text NOT NULL,
  refund_id   text NOT NULL REFERENCES topup_refunds,
  credits     bigint NOT NULL CHECK (credits >= 0),
  paid_minor  bigint NOT NULL CHECK (paid_minor > 0),
  PRIMARY KEY (provider, dispute_id, refund_id),
  FOREIGN KEY (provider, dispute_id) REFERENCES disputes
);
CALL make_append_only('dispute_refunds');
GRANT SELECT, INSERT ON dispute_refunds TO tollgate_billing;
GRANT UPDATE (credits, paid_minor) ON disputes TO tollgate_billing;

-- What a dispute took beyond the payment is returned as a whole then, and booked again as far as it is not covered.
-- The version before works on: suspense_items USING btree (provider, reference, why) is no longer unique.
-- The version before works on: suspense_items.suspense_items_once is new: CREATE UNIQUE INDEX suspense_items_once ON public.suspense_items USING btree (provider, reference, why) WHERE (why <> 'dispute_beyond_payment'::text).
ALTER TABLE suspense_items DROP CONSTRAINT suspense_items_provider_reference_why_key;
CREATE INDEX suspense_items_reference ON suspense_items (provider, reference, why);
CREATE UNIQUE INDEX suspense_items_once ON suspense_items (provider, reference, why) WHERE why <> 'dispute_beyond_payment';
