-- Trigger: the catalogue changes with this transaction. Once is enough: no other transaction sees it before the commit, and
-- an apply has thousands of statements. The setting ends with the transaction, or with the savepoint that takes the change back.
CREATE OR REPLACE FUNCTION raise_catalogue_version() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  transaction_id text := pg_current_xact_id()::text;
BEGIN
  IF current_setting('gatehouse.catalogue_raised_by', true) IS DISTINCT FROM transaction_id THEN
    UPDATE catalogue_version SET version = version + 1;
    PERFORM set_config('gatehouse.catalogue_raised_by', transaction_id, true);
  END IF;
  RETURN NULL;
END
$$;
