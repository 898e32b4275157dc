-- The hour, day, week (from Monday) or month of a time zone's calendar that an instant is in. Windows tile: the end of each is the start of
-- the next. So an hour that the clock shows twice is one window, and one that it skips is none. A lifetime starts at `in_since` and has no
-- end. Fails with 22023 for a time zone that the server does not know.
CREATE OR REPLACE FUNCTION calendar_window(
  in_window text,
  in_time_zone text,
  in_since timestamptz,
  in_at timestamptz,
  OUT started_at timestamptz,
  OUT ends_at timestamptz
) LANGUAGE plpgsql STABLE AS $$
DECLARE
  local_start timestamp := in_at AT TIME ZONE in_time_zone;
BEGIN
  IF in_window = 'lifetime' THEN
    started_at := in_since;
    ends_at := 'infinity';
    RETURN;
  END IF;
  local_start := date_trunc(in_window, local_start);
  started_at := first_instant(local_start, in_time_zone);
  LOOP
    local_start := local_start + ('1 ' || in_window)::interval;
    ends_at := first_instant(local_start, in_time_zone);
    -- Where the clock was set back over the end of a window, the next has begun.
    EXIT WHEN ends_at > in_at;
    started_at := ends_at;
  END LOOP;
END
$$;
