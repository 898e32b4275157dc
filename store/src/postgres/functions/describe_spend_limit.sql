-- What a caller is told of the spend limit that its request would pass: {id, scope, name, value, window, timeZone, endsAt}. `name` and
-- `value` are of a label; the value is null where several share the window. The end is null for a lifetime.
CREATE OR REPLACE FUNCTION describe_spend_limit(in_limit_id uuid, in_window_id uuid) RETURNS jsonb LANGUAGE sql STABLE
SET enable_seqscan = off
AS $$
  SELECT jsonb_build_object(
    'id', l.id, 'scope', l.scope_kind, 'name', l.metadata_name,
    'value', coalesce(l.metadata_value, substr(nullif(w.value, ''), 2)), 'window', l.time_window, 'timeZone', l.time_zone,
    'endsAt', CASE WHEN isfinite(w.ends_at) THEN (extract(epoch FROM w.ends_at) * 1000000)::bigint END)
  FROM spend_limits l JOIN spend_windows w ON w.limit_id = l.id
  WHERE l.id = in_limit_id AND w.id = in_window_id
$$;
