-- A refund at the provider, reported after a bank took its payment, is in suspense in two parts: within the payment, and beyond.
-- The version before works on: suspense_items USING btree (provider, reference, why) WHERE (why <> ALL (ARRAY['dispute_beyond_payment'::text, 'dispute_won'::text])) is no longer unique.
-- The version before works on: suspense_items.suspense_items_once is new: CREATE UNIQUE INDEX suspense_items_once ON public.suspense_items USING btree (provider, reference, why) WHERE (why <> ALL (ARRAY['dispute_beyond_payment'::text, 'dispute_won'::text, 'unknown_refund'::text])).
DROP INDEX suspense_items_once;
CREATE UNIQUE INDEX suspense_items_once ON suspense_items (provider, reference, why)
  WHERE why NOT IN ('dispute_beyond_payment', 'dispute_won', 'unknown_refund');
