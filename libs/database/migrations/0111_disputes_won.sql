-- A dispute that is won after what it took beyond the payment was booked as a cost: that money is in suspense again.
ALTER TABLE suspense_items DROP CONSTRAINT suspense_items_why_check;
ALTER TABLE suspense_items ADD CONSTRAINT suspense_items_why_check CHECK (why IN ('no_order', 'other_amount',
  'other_currency', 'paid_twice', 'unknown_refund', 'refund_failed', 'dispute_beyond_payment', 'dispute_after_deletion',
  'dispute_won', 'provider_adjustment'));
