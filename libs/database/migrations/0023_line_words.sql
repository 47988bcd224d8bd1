-- A provider may come back to what it said before: each time that it says something else than the last time is a change.
ALTER TABLE provider_line_changes DROP CONSTRAINT provider_line_changes_line_content_key;
CREATE INDEX provider_line_changes_line ON provider_line_changes (line, id);
