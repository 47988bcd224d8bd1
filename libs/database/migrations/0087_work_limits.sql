-- Limits of tokens and of images per minute, beside those of requests. Null: none.

ALTER TABLE api_keys
  ADD COLUMN tokens_per_minute integer CHECK (tokens_per_minute BETWEEN 1 AND 1000000000),
  ADD COLUMN images_per_minute integer CHECK (images_per_minute BETWEEN 1 AND 1000000000);
ALTER TABLE accounts
  ADD COLUMN tokens_per_minute integer CHECK (tokens_per_minute BETWEEN 1 AND 1000000000),
  ADD COLUMN images_per_minute integer CHECK (images_per_minute BETWEEN 1 AND 1000000000);
GRANT UPDATE (tokens_per_minute, images_per_minute) ON api_keys TO tollgate_billing;
GRANT UPDATE (tokens_per_minute, images_per_minute) ON accounts TO tollgate_billing;
