-- Closes every week that ends at this moment or before. The horizon never moves back.
CREATE OR REPLACE FUNCTION close_settlements(in_until timestamptz) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  target uuid := settlement_bound(settlement_week(in_until));
BEGIN
  IF NOT EXISTS (SELECT FROM settlement_horizon WHERE closed_before < target) THEN RETURN false; END IF;
  PERFORM lock_settlements();
  UPDATE settlement_horizon SET closed_before = target WHERE closed_before < target;
  RETURN FOUND;
END
$$;
REVOKE EXECUTE ON FUNCTION close_settlements FROM PUBLIC;
