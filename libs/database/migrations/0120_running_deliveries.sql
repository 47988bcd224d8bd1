-- The webhooks that a program is sending: an endpoint gets few at once, however many programs send.
CREATE INDEX webhook_deliveries_running ON webhook_deliveries (endpoint_id)
  WHERE state = 'pending' AND lease_token IS NOT NULL;
