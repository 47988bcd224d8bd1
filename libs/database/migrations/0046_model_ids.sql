-- Ids of models as vendors write them: capitals, `_` and `:`, and parts between slashes (libs/catalog/model-id.ts).

ALTER TABLE models DROP CONSTRAINT models_id_check;
ALTER TABLE models ADD CONSTRAINT models_id_check CHECK (
  length(id) <= 200 AND id COLLATE "C" ~ '^[A-Za-z0-9][A-Za-z0-9._:-]*(/[A-Za-z0-9][A-Za-z0-9._:-]*)*$');
