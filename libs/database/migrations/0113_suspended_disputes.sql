-- A bank may take back a payment that lies in suspense. What it took is in suspense too, and names the payment.
ALTER TABLE suspense_items ADD COLUMN payment_id text;
CREATE INDEX suspense_items_payment ON suspense_items (provider, payment_id) WHERE payment_id IS NOT NULL;
ALTER TABLE suspense_items DROP CONSTRAINT suspense_items_why_check;
ALTER TABLE suspense_items ADD CONSTRAINT suspense_items_why_check CHECK (why IN ('no_order', 'other_amount',
  'other_currency', 'paid_twice', 'unknown_refund', 'refund_failed', 'payment_disputed', 'dispute_beyond_payment',
  'dispute_after_deletion', 'dispute_won', 'provider_adjustment'));

-- Whether a dispute was won, should that event arrive before the one that it was opened.
CREATE INDEX payment_events_won_disputes ON payment_events ((payload ->> 'disputeId')) WHERE payload ->> 'state' = 'won';
