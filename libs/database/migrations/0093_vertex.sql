-- Google's models on Vertex AI.

ALTER TABLE channels DROP CONSTRAINT channels_protocol_check;
ALTER TABLE channels ADD CONSTRAINT channels_protocol_check
  CHECK (protocol IN ('openai-xai', 'openai', 'xai', 'gemini', 'vertex', 'anthropic', 'mesh3d', 'fal', 'replicate', 'bfl',
    'ark'));
