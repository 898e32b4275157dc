-- The window of a limit that is open at an instant; the row is made if there is none. Called under a lock on the balance of the limit's
-- organisation.
--
-- A value (`=` and the value) has a window for itself. Where as many values as may be told apart have one already, it shares the window
-- of the empty value. The row outlives a crash of this server, because a journal may name it: the commit waits for the disk.
CREATE OR REPLACE FUNCTION open_spend_window(in_limit_id uuid, in_value text, in_at timestamptz)
RETURNS spend_windows LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_bitmapscan = off
AS $$
DECLARE
  most_values CONSTANT integer := 10000;
  shared spend_windows;
  own spend_windows;
BEGIN
  SELECT * INTO shared FROM spend_windows
  WHERE limit_id = in_limit_id AND value = '' AND started_at <= in_at AND ends_at > in_at
  ORDER BY started_at DESC LIMIT 1;
  IF NOT FOUND THEN
    PERFORM set_config('synchronous_commit', 'on', true);
    INSERT INTO spend_windows (limit_id, value, started_at, ends_at, next_alert_micro_pkr)
    SELECT l.id, '', c.started_at, c.ends_at, next_spend_alert(l.limit_micro_pkr, l.alert_at, 0)
    FROM spend_limits l, calendar_window(l.time_window, l.time_zone, l.created_at, in_at) AS c
    WHERE l.id = in_limit_id
    RETURNING * INTO shared;
  END IF;
  IF in_value = '' THEN RETURN shared; END IF;

  SELECT * INTO own FROM spend_windows
  WHERE limit_id = in_limit_id AND value = in_value AND started_at = shared.started_at;
  IF FOUND THEN RETURN own; END IF;
  IF shared.values_apart >= most_values THEN RETURN shared; END IF;
  PERFORM set_config('synchronous_commit', 'on', true);
  UPDATE spend_windows SET values_apart = values_apart + 1 WHERE id = shared.id;
  INSERT INTO spend_windows (limit_id, value, started_at, ends_at, next_alert_micro_pkr)
  SELECT l.id, in_value, shared.started_at, shared.ends_at, next_spend_alert(l.limit_micro_pkr, l.alert_at, 0)
  FROM spend_limits l WHERE l.id = in_limit_id
  RETURNING * INTO own;
  RETURN own;
END
$$;
