-- How much of a spend limit is spent when the next alert of a window is due, after one at `in_alerted_percent`. Null if that was the last.
-- Whatever the thresholds are, the limit itself is one, and of a limit of 0 the only one.
CREATE OR REPLACE FUNCTION next_spend_alert(in_limit_micro_pkr bigint, in_alert_at smallint[], in_alerted_percent integer)
RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT ceil(in_limit_micro_pkr::numeric * min(p) / 100)::bigint
  FROM unnest(CASE WHEN in_limit_micro_pkr > 0 THEN in_alert_at END || 100::smallint) AS t (p)
  WHERE p > in_alerted_percent
$$;
