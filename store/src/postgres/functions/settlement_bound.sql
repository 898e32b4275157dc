-- The smallest request id (UUIDv7) of a moment.
CREATE OR REPLACE FUNCTION settlement_bound(in_moment timestamptz) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
  SELECT rpad(lpad(to_hex(floor(extract(epoch FROM in_moment) * 1000)::bigint), 12, '0'), 32, '0')::uuid
$$;
