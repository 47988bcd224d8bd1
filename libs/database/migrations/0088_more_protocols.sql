-- Replicate, Black Forest Labs and Volcengine Ark.

ALTER TABLE channels DROP CONSTRAINT channels_protocol_check;
ALTER TABLE channels ADD CONSTRAINT channels_protocol_check
  CHECK (protocol IN ('openai-xai', 'openai', 'xai', 'gemini', 'anthropic', 'mesh3d', 'fal', 'replicate', 'bfl', 'ark'));
