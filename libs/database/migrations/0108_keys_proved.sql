-- A key's row changes only with its settings, so its version (xmin) says as much as the text of key_rules, and comparing it
-- costs a tenth. Most keys are in an open group, which one join finds out for all of them.

-- Whether keys and prices are still what the holds were decided by, and the decision holds at this time: from `valid_from`
-- until just before `until_ms`, in milliseconds since 1970.
-- VOLATILE, so that its query sees the present rather than what its caller sees: a transaction that revokes or limits a key
-- locks its account's balance, and the caller, who calls this after it wrote that balance, waited for it to end.
CREATE FUNCTION holds_proved(revision_used bigint, valid_from timestamptz, until_ms float8, key_ids text[], known_versions xid[])
RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  RETURN cardinality(key_ids) = (SELECT count(*) FROM unnest(key_ids, known_versions) AS t (id, version)
      JOIN api_keys k ON k.id = t.id AND k.xmin = t.version
      JOIN groups g ON g.name = k.group_name
      WHERE k.id = ANY (key_ids) AND (g.open OR key_has_group(k)))
    AND (SELECT revision = revision_used FROM catalog_revision)
    AND (SELECT now >= valid_from AND now < to_timestamp(until_ms / 1000) FROM ledger_effective_now() AS now);
END $$;

REVOKE EXECUTE ON FUNCTION holds_proved(bigint, timestamptz, float8, text[], xid[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION holds_proved(bigint, timestamptz, float8, text[], xid[]) TO tollgate_billing;
