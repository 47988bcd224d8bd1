-- A protocol of vendors whose images are asked for until they are there.

ALTER TABLE channels DROP CONSTRAINT channels_protocol_check;
ALTER TABLE channels ADD CONSTRAINT channels_protocol_check
  CHECK (protocol IN ('openai-xai', 'openai', 'xai', 'gemini', 'anthropic', 'mesh3d', 'fal'));
