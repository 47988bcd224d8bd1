-- What the books were put right by when somebody accepted what a provider said last of a line.

-- On top of what stood: the fee, and the amount of a payout, in a posting of its own; what our books know from elsewhere, such
-- as the amount of a payment, in suspense.
CREATE TABLE provider_line_corrections (
  acceptance_id     text PRIMARY KEY REFERENCES provider_line_acceptances,
  line              bigint NOT NULL REFERENCES provider_report_lines,
  amount_minor      bigint NOT NULL,                 -- of a payout, positive when it came to us; else 0
  fee_minor         bigint NOT NULL,                 -- positive when the provider kept it
  transaction_id    bigint UNIQUE REFERENCES ledger_transactions,
  suspense_item_id  text UNIQUE REFERENCES suspense_items,
  CONSTRAINT posted CHECK ((transaction_id IS NOT NULL) = (amount_minor <> 0 OR fee_minor <> 0)),
  CONSTRAINT corrects_something CHECK (transaction_id IS NOT NULL OR suspense_item_id IS NOT NULL)
);
CREATE INDEX provider_line_corrections_line ON provider_line_corrections (line);
CALL make_append_only('provider_line_corrections');
GRANT SELECT, INSERT ON provider_line_corrections TO tollgate_billing;

-- What was accepted before the books followed it may be accepted again.
ALTER TABLE provider_line_acceptances DROP CONSTRAINT provider_line_acceptances_line_through_key;
CREATE INDEX provider_line_acceptances_line ON provider_line_acceptances (line, through);

-- Lines that were told in more than one way: the word that holds, which is the first one until another is accepted, and the last.
CREATE VIEW provider_line_words AS
  SELECT l.id AS line, z.id AS last_change,
    coalesce((held.content ->> 'amountMinor')::bigint, l.amount_minor) AS amount_minor,
    coalesce((held.content ->> 'feeMinor')::bigint, l.fee_minor) AS fee_minor,
    (z.content ->> 'amountMinor')::bigint AS last_amount_minor, (z.content ->> 'feeMinor')::bigint AS last_fee_minor,
    (z.content ->> 'type', z.content ->> 'currency', z.content ->> 'subjectId') = (l.type, l.currency, l.subject_id) AS is_same,
    -- Nobody has to look at it: the last word is accepted, and what is posted from lines alone follows it.
    coalesce(a.through >= z.id, false)
      AND (z.content ->> 'type', z.content ->> 'currency', z.content ->> 'subjectId') = (l.type, l.currency, l.subject_id)
      AND CASE WHEN l.type = 'fee' THEN (z.content ->> 'feeMinor')::bigint - (z.content ->> 'amountMinor')::bigint
            = l.fee_minor - l.amount_minor + x.fee
        ELSE (z.content ->> 'feeMinor')::bigint = l.fee_minor + x.fee END
      AND (l.type NOT IN ('payout', 'payout_failure') OR (z.content ->> 'amountMinor')::bigint = l.amount_minor + x.amount)
      AS is_settled
  FROM (SELECT line, max(id) AS id FROM provider_line_changes GROUP BY line) AS n
  JOIN provider_line_changes z ON z.id = n.id
  JOIN provider_report_lines l ON l.id = n.line
  CROSS JOIN LATERAL (SELECT max(through) AS through FROM provider_line_acceptances WHERE line = n.line) AS a
  LEFT JOIN provider_line_changes held ON held.id = a.through
  CROSS JOIN LATERAL (SELECT coalesce(sum(amount_minor), 0) AS amount, coalesce(sum(fee_minor), 0) AS fee
    FROM provider_line_corrections WHERE line = n.line) AS x;
GRANT SELECT ON provider_line_words TO tollgate_billing;
