-- Excludes settling until the commit. Settling takes this lock shared (journal-begin-settling), so that a transaction
-- that has read the horizon commits before the horizon moves. Changes of partitions and of the horizon take it exclusively.
CREATE OR REPLACE FUNCTION lock_settlements() RETURNS void LANGUAGE sql AS $$
  SELECT pg_advisory_xact_lock(7215534103)
$$;
