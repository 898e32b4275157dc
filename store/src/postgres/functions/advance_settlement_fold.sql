-- Lets the settlements of ids before this moment be folded. The horizon never moves back. A transaction that settles has read
-- it under the shared lock, so none that has read an older one is left when this commits.
CREATE OR REPLACE FUNCTION advance_settlement_fold(in_until timestamptz) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  target uuid := settlement_bound(in_until);
BEGIN
  IF NOT EXISTS (SELECT FROM settlement_horizon WHERE folded_before < target) THEN RETURN false; END IF;
  PERFORM lock_settlements();
  UPDATE settlement_horizon SET folded_before = target WHERE folded_before < target;
  RETURN FOUND;
END
$$;
REVOKE EXECUTE ON FUNCTION advance_settlement_fold FROM PUBLIC;
