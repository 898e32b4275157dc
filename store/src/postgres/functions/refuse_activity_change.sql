-- Trigger: no role changes a log entry, and only `purge_activity` removes one, by its owner's rights.
CREATE OR REPLACE FUNCTION refuse_activity_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND current_user = 'gatehouse_retention' THEN RETURN OLD; END IF;
  RAISE EXCEPTION '% is append-only: % is refused', TG_TABLE_NAME, TG_OP;
END
$$;
