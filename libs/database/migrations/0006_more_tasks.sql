-- Tasks of Google's long-running style, 3D assets, and videos whose file its owner had deleted.

ALTER TABLE tasks DROP CONSTRAINT tasks_dialect_check;
ALTER TABLE tasks ADD CONSTRAINT tasks_dialect_check CHECK (dialect IN ('openai', 'xai', 'google'));

-- What was billed: the seconds of a video; an asset is one call.
COMMENT ON COLUMN tasks.seconds IS 'billed units: seconds of a video, 1 for a 3D asset';

-- The file is gone; the record stays as it is.
ALTER TABLE tasks ADD COLUMN deleted_at timestamptz
  CONSTRAINT only_the_ended_is_deleted CHECK (deleted_at IS NULL OR state IN ('completed', 'failed'));
GRANT UPDATE (deleted_at) ON tasks TO tollgate_gateway;
