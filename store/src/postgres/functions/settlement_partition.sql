-- The name of a week's partition of `settlements`.
CREATE OR REPLACE FUNCTION settlement_partition(in_week timestamptz) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT 'settlements_' || to_char(in_week AT TIME ZONE 'UTC', 'YYYYMMDD')
$$;
