-- A report and an event of a refund made at the provider itself name it only as the provider does.
CREATE INDEX topup_refunds_provider_refund ON topup_refunds (provider_refund_id) WHERE provider_refund_id IS NOT NULL;
