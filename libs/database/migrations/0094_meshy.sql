-- 3D assets of Meshy.

ALTER TABLE channels DROP CONSTRAINT channels_protocol_check;
ALTER TABLE channels ADD CONSTRAINT channels_protocol_check
  CHECK (protocol IN ('openai-xai', 'openai', 'xai', 'gemini', 'vertex', 'anthropic', 'mesh3d', 'meshy', 'fal', 'replicate',
    'bfl', 'ark'));
