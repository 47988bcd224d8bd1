-- Limits of tokens and of images per minute also of each account in a group, beside those of keys and accounts. Null: none.

ALTER TABLE groups
  ADD COLUMN tokens_per_minute integer CHECK (tokens_per_minute BETWEEN 1 AND 1000000000),
  ADD COLUMN images_per_minute integer CHECK (images_per_minute BETWEEN 1 AND 1000000000);
