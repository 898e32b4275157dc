-- The first instant at which a clock of the time zone shows this time or a later one. A time that the clock shows twice is the earlier of
-- the two; one that it skips is the instant of the change.
CREATE OR REPLACE FUNCTION first_instant(in_local timestamp, in_time_zone text) RETURNS timestamptz LANGUAGE plpgsql STABLE AS $$
DECLARE
  found_at timestamptz := in_local AT TIME ZONE in_time_zone;
  shortly_before timestamptz := found_at - interval '6 hours';
  -- By the offset from before a change, if there is one.
  earlier timestamptz := (in_local - (shortly_before AT TIME ZONE in_time_zone - shortly_before AT TIME ZONE 'UTC')) AT TIME ZONE 'UTC';
BEGIN
  IF earlier < found_at AND earlier AT TIME ZONE in_time_zone = in_local THEN RETURN earlier; END IF;
  -- Only within a skipped time; changes are at full minutes.
  WHILE (found_at - interval '1 minute') AT TIME ZONE in_time_zone >= in_local LOOP
    found_at := found_at - interval '1 minute';
  END LOOP;
  RETURN found_at;
END
$$;
