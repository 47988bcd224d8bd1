-- People are named by their ids in what is never deleted, so that an account can be deleted. What had been written with
-- addresses and names is rewritten once, by the owner; the programs can change these tables as little as before.

CREATE FUNCTION pg_temp.without_addresses(value text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT regexp_replace(value, '[^\s@<>"''(),;:\\]{1,64}@[^\s@<>"''(),;:\\]{1,255}', '[e-mail]', 'g')
$$;

CREATE FUNCTION pg_temp.without_addresses(value jsonb) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RETURN CASE jsonb_typeof(value)
    WHEN 'string' THEN to_jsonb(pg_temp.without_addresses(value #>> '{}'))
    WHEN 'array' THEN (SELECT coalesce(jsonb_agg(pg_temp.without_addresses(item) ORDER BY place), '[]')
      FROM jsonb_array_elements(value) WITH ORDINALITY AS items (item, place))
    WHEN 'object' THEN (SELECT coalesce(jsonb_object_agg(name, pg_temp.without_addresses(item)), '{}')
      FROM jsonb_each(value) AS items (name, item))
    ELSE value END;
END $$;

-- What a customer chose to be called, and where keys may be used from.
CREATE FUNCTION pg_temp.without_names(value jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
  SELECT value
    || CASE WHEN value ? 'name' THEN '{"name": "[name]"}' ELSE '{}' END::jsonb
    || CASE WHEN jsonb_typeof(value -> 'allowedIps') = 'array'
         THEN jsonb_build_object('allowedIps', jsonb_array_length(value -> 'allowedIps')) ELSE '{}' END
$$;

ALTER TABLE audit_log DISABLE TRIGGER append_only;
UPDATE audit_log SET before = NULL, after = NULL
  WHERE action = 'email.changed' AND num_nonnulls(before, after) > 0;
UPDATE audit_log SET before = pg_temp.without_names(before), after = pg_temp.without_names(after)
  WHERE action IN ('account.created', 'account.changed', 'key.created', 'key.changed')
    AND (before ?| '{name,allowedIps}' OR after ?| '{name,allowedIps}');
UPDATE audit_log SET before = pg_temp.without_addresses(before), after = pg_temp.without_addresses(after)
  WHERE before::text LIKE '%@%' OR after::text LIKE '%@%';
ALTER TABLE audit_log ENABLE TRIGGER append_only;

-- Free text of staff about customers: the same, for what is there and for what comes.
CREATE FUNCTION strip_addresses() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
  written text := to_jsonb(NEW) ->> TG_ARGV[0];
BEGIN
  IF written LIKE '%@%' THEN
    NEW := jsonb_populate_record(NEW, jsonb_build_object(TG_ARGV[0],
      regexp_replace(written, '[^\s@<>"''(),;:\\]{1,64}@[^\s@<>"''(),;:\\]{1,255}', '[e-mail]', 'g')));
  END IF;
  RETURN NEW;
END $$;
REVOKE EXECUTE ON FUNCTION strip_addresses() FROM PUBLIC;

DO $$
DECLARE
  words record;
BEGIN
  FOR words IN SELECT * FROM (VALUES ('adjustments', 'note'), ('write_offs', 'note'), ('charge_refunds', 'reason'),
    ('account_rate_versions', 'reason')) AS free (target, field)
  LOOP
    EXECUTE format('ALTER TABLE %I DISABLE TRIGGER append_only', words.target);
    EXECUTE format('UPDATE %1$I SET %2$I = pg_temp.without_addresses(%2$I) WHERE %2$I LIKE ''%%@%%''', words.target, words.field);
    EXECUTE format('ALTER TABLE %I ENABLE TRIGGER append_only', words.target);
    EXECUTE format('CREATE TRIGGER no_addresses BEFORE INSERT ON %I FOR EACH ROW EXECUTE FUNCTION strip_addresses(%L)',
      words.target, words.field);
  END LOOP;
END $$;

-- Approvals stay as well.
UPDATE approvals SET reason = pg_temp.without_addresses(reason), payload = pg_temp.without_addresses(payload),
    outcome = pg_temp.without_addresses(outcome), decision_note = pg_temp.without_addresses(decision_note)
  WHERE concat(reason, payload, outcome, decision_note) LIKE '%@%';

DROP FUNCTION pg_temp.without_names(jsonb);
DROP FUNCTION pg_temp.without_addresses(jsonb);
DROP FUNCTION pg_temp.without_addresses(text);
