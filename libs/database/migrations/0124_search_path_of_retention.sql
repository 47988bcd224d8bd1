-- Temporary tables come last, as for every function that runs with its owner's rights: none may stand in for a table of ours.
-- The version before works on: the function remove_refused(text,text,integer) is changed.
ALTER FUNCTION remove_refused SET search_path = pg_catalog, public, pg_temp;
