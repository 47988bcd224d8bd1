-- Whether a refund made at the provider has failed, should its event arrive before the one that it succeeded.
CREATE INDEX payment_events_failed_refunds ON payment_events ((payload ->> 'providerRefundId'))
  WHERE payload ->> 'state' = 'failed';
