-- A refund at the provider that left in two parts, within its payment and beyond, comes back in two.
-- The version before works on: suspense_items USING btree (provider, reference, why) WHERE (why <> ALL (ARRAY['dispute_beyond_payment'::text, 'dispute_won'::text, 'unknown_refund'::text])) is no longer unique.
-- The version before works on: suspense_items.suspense_items_once is new: CREATE UNIQUE INDEX suspense_items_once ON public.suspense_items USING btree (provider, reference, why) WHERE (why <> ALL (ARRAY['dispute_beyond_payment'::text, 'dispute_won'::text, 'unknown_refund'::text, 'refund_failed'::text])).
DROP INDEX suspense_items_once;
CREATE UNIQUE INDEX suspense_items_once ON suspense_items (provider, reference, why)
  WHERE why NOT IN ('dispute_beyond_payment', 'dispute_won', 'unknown_refund', 'refund_failed');
