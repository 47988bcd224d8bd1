-- Which top-ups were credited from suspense, of one account.
CREATE INDEX suspense_items_topup ON suspense_items (topup_id) WHERE topup_id IS NOT NULL;
