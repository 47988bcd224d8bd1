-- The language in which a person gets mail. The console sends the one that it shows.
ALTER TABLE users ADD COLUMN language text CHECK (language IN ('en', 'zh'));
COMMENT ON COLUMN users.language IS 'of their mail; null: never chosen, and written in English';
GRANT UPDATE (language) ON users TO tollgate_billing;

ALTER TABLE sign_ups ADD COLUMN language text CHECK (language IN ('en', 'zh'));
COMMENT ON COLUMN sign_ups.language IS 'of the page that asked; becomes that of the person';
