-- The protocols that channels can speak, how many calls at once a vendor bears, and several keys for one channel.

ALTER TABLE channels DROP CONSTRAINT channels_protocol_check;
ALTER TABLE channels ADD CONSTRAINT channels_protocol_check
  CHECK (protocol IN ('openai-xai', 'openai', 'xai', 'gemini', 'anthropic', 'mesh3d'));

ALTER TABLE channels
  ADD COLUMN max_concurrency integer CHECK (max_concurrency > 0),     -- null: no limit
  ADD COLUMN further_api_keys text[] NOT NULL DEFAULT '{}';           -- used in turn with api_key

-- A mark of the key that created the task, never the key: the vendor shows a task only to the key that made it. Null
-- for tasks from before there were several.
ALTER TABLE tasks ADD COLUMN channel_key text;
GRANT UPDATE (channel_key) ON tasks TO tollgate_gateway;
