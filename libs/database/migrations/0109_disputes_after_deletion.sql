-- A dispute that is won after its account was deleted is in suspense: a balance there would be nobody's.
ALTER TABLE suspense_items DROP CONSTRAINT suspense_items_why_check;
ALTER TABLE suspense_items ADD CONSTRAINT suspense_items_why_check CHECK (why IN ('no_order', 'other_amount',
  'other_currency', 'paid_twice', 'unknown_refund', 'refund_failed', 'dispute_beyond_payment', 'dispute_after_deletion',
  'provider_adjustment'));
