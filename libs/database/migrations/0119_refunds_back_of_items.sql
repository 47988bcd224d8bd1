-- Which item a refund at the provider that came back undoes: one that left in two equal parts comes back in two.
ALTER TABLE suspense_items ADD COLUMN undoes text REFERENCES suspense_items;

WITH parts AS (
  SELECT id, provider, reference, why, abs(amount_minor) AS amount,
    row_number() OVER (PARTITION BY provider, reference, why, amount_minor ORDER BY transaction_id) AS nth
  FROM suspense_items WHERE why IN ('unknown_refund', 'refund_failed'))
UPDATE suspense_items i SET undoes = gone.id
FROM parts back JOIN parts gone USING (provider, reference, amount, nth)
WHERE i.id = back.id AND back.why = 'refund_failed' AND gone.why = 'unknown_refund';
