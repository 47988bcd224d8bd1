-- A batch of holds for many keys compared the text of all their settings and asked for each key's group by itself. The number of
-- their changes says as much, and one join finds the keys in an open group.
-- The version before works on: the trigger rules_version of api_keys is new.

-- How often the settings that decide about its holds were changed.
ALTER TABLE api_keys ADD COLUMN rules_version bigint NOT NULL DEFAULT 0;

CREATE FUNCTION count_rules_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.rules_version := OLD.rules_version + 1;
  RETURN NEW;
END $$;

CREATE TRIGGER rules_version BEFORE UPDATE OF account_id, group_name, allowed_models, allowed_ips, monthly_limit_nanos,
  total_limit_nanos, expires_at, revoked_at ON api_keys FOR EACH ROW EXECUTE FUNCTION count_rules_version();

-- Whether keys and prices are still what the holds were decided by, and the decision holds at this time: from `valid_from`
-- until just before `until_ms`, in milliseconds since 1970.
-- VOLATILE, so that its query sees the present rather than what its caller sees: a transaction that revokes or limits a key
-- locks its account's balance, and the caller, who calls this after it wrote that balance, waited for it to end.
CREATE FUNCTION holds_proved(revision_used bigint, valid_from timestamptz, until_ms float8, key_ids text[], known_versions bigint[])
RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  RETURN cardinality(key_ids) = (SELECT count(*) FROM unnest(key_ids, known_versions) AS t (id, version)
      JOIN api_keys k ON k.id = t.id AND k.rules_version = t.version
      JOIN groups g ON g.name = k.group_name
      WHERE k.id = ANY (key_ids) AND (g.open OR key_has_group(k)))
    AND (SELECT revision = revision_used FROM catalog_revision)
    AND (SELECT now >= valid_from AND now < to_timestamp(until_ms / 1000) FROM ledger_effective_now() AS now);
END $$;

REVOKE EXECUTE ON FUNCTION holds_proved(bigint, timestamptz, float8, text[], bigint[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION holds_proved(bigint, timestamptz, float8, text[], bigint[]) TO tollgate_billing;
