-- What the vendor of a channel signs its webhooks with, sealed as the keys are; null where there is none.
ALTER TABLE channels ADD COLUMN webhook_secret text;
