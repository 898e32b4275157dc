-- When the next alert of an expiry is due: 7 days and 1 day before it. Null if both times are past.
CREATE OR REPLACE FUNCTION next_expiry_alert(in_expires_at timestamptz) RETURNS timestamptz LANGUAGE sql STABLE AS $$
  SELECT min(in_expires_at - before)
  FROM unnest('{168 hours,24 hours}'::interval[]) AS t (before)
  WHERE in_expires_at - before > clock_timestamp()
$$;
