-- Nobody gets a right that was not granted by name: functions run for those who need them, with the rights of who calls
-- them, and only the owner makes objects, temporary ones included.

-- Billing alone changes the catalog, and may therefore count its revisions itself: no function has rights that its caller
-- does not have.
GRANT UPDATE (revision) ON catalog_revision TO tollgate_billing;
CREATE OR REPLACE FUNCTION public.bump_catalog_revision() RETURNS trigger LANGUAGE plpgsql
  SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(public.catalog_lock_key());
  UPDATE public.catalog_revision SET revision = revision + 1;
  RETURN NULL;
END $$;

REVOKE ALL ON ALL ROUTINES IN SCHEMA public FROM PUBLIC, tollgate_gateway, tollgate_worker, tollgate_billing;
ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON ROUTINES FROM PUBLIC;
GRANT EXECUTE ON FUNCTION catalog_lock_key(), lock_catalog(), first_transaction_since(bigint[], timestamptz),
  ledger_clock(), ledger_open_since(), ledger_effective_now(), lines_amount(jsonb, numeric),
  lines_cost(jsonb, numeric, numeric, numeric), lines_units(jsonb), new_invite_code() TO tollgate_billing;

REVOKE ALL ON SCHEMA public FROM PUBLIC;
REVOKE CREATE ON SCHEMA public FROM tollgate_gateway, tollgate_worker, tollgate_billing;
REVOKE TRUNCATE, REFERENCES, TRIGGER ON ALL TABLES IN SCHEMA public
  FROM PUBLIC, tollgate_gateway, tollgate_worker, tollgate_billing;

-- Only the owner of a database may say who connects to it.
DO $$
BEGIN
  EXECUTE format('REVOKE ALL ON DATABASE %I FROM PUBLIC, tollgate_gateway, tollgate_worker, tollgate_billing',
    current_database());
  EXECUTE format('GRANT CONNECT ON DATABASE %I TO tollgate_gateway, tollgate_worker, tollgate_billing', current_database());
END $$;
