-- The trace of the call that made a task or caused a webhook, so that what is done later continues it. Messages carry theirs as
-- a header, and rows of the outbox in their payload.
ALTER TABLE tasks ADD COLUMN traceparent text;
ALTER TABLE webhook_deliveries ADD COLUMN traceparent text;
COMMENT ON COLUMN tasks.traceparent IS 'by W3C Trace Context; null where calls are not traced';
COMMENT ON COLUMN webhook_deliveries.traceparent IS 'by W3C Trace Context; null where no traced call caused it';
