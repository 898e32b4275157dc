-- Monday 00:00 UTC of the week that a moment is in.
CREATE OR REPLACE FUNCTION settlement_week(in_moment timestamptz) RETURNS timestamptz LANGUAGE sql IMMUTABLE AS $$
  SELECT date_trunc('week', in_moment AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'
$$;
