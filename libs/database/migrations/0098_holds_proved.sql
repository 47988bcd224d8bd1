-- A hold that was decided without locks is one statement, its own transaction: this function proves it within.

-- All settings of a key that decide about a hold, as one text. While it is the same, so are the key's rules.
CREATE FUNCTION key_rules(k api_keys) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT (k.account_id, k.group_name, k.allowed_models, k.allowed_ips, k.monthly_limit_nanos, k.total_limit_nanos,
    k.expires_at, k.revoked_at)::text
$$;

-- Whether a key may be used in its group: what a hold decides by.
CREATE FUNCTION key_has_group(k api_keys) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN EXISTS (SELECT FROM groups WHERE name = k.group_name AND open)
    OR EXISTS (SELECT FROM account_groups WHERE account_id = k.account_id AND group_name = k.group_name);
END $$;

-- Whether keys and prices are still what the holds were decided by, and the decision holds at this time: from `valid_from`
-- until just before `until_ms`, in milliseconds since 1970.
-- VOLATILE, so that its query sees the present rather than what its caller sees: a transaction that revokes or limits a key
-- locks its account's balance, and the caller, who calls this after it wrote that balance, waited for it to end.
CREATE FUNCTION holds_proved(revision_used bigint, valid_from timestamptz, until_ms float8, key_ids text[], known_rules text[])
RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  RETURN cardinality(key_ids) = (SELECT count(*) FROM unnest(key_ids, known_rules) AS t (id, rules)
      JOIN api_keys k ON k.id = t.id AND t.rules = key_rules(k)
      WHERE k.id = ANY (key_ids) AND key_has_group(k))
    AND (SELECT revision = revision_used FROM catalog_revision)
    AND (SELECT now >= valid_from AND now < to_timestamp(until_ms / 1000) FROM ledger_effective_now() AS now);
END $$;

REVOKE EXECUTE ON FUNCTION key_rules(api_keys), key_has_group(api_keys),
  holds_proved(bigint, timestamptz, float8, text[], text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION key_rules(api_keys), key_has_group(api_keys),
  holds_proved(bigint, timestamptz, float8, text[], text[]) TO tollgate_billing;
