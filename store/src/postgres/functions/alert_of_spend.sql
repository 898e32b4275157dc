-- Trigger: a window of a spend limit has reached a threshold, or a request was refused for it. Each threshold below the limit is told
-- once, and so is the limit, whichever of the two it is reached by.
CREATE OR REPLACE FUNCTION alert_of_spend() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  spend_limit spend_limits;
  told jsonb;
  told_percents integer[];
BEGIN
  SELECT * INTO spend_limit FROM spend_limits WHERE id = NEW.limit_id;
  SELECT coalesce(array_agg(DISTINCT p), '{}') INTO told_percents
  FROM unnest(CASE WHEN spend_limit.limit_micro_pkr > 0 THEN spend_limit.alert_at END || 100::smallint) AS t (p)
  WHERE p > NEW.alerted_percent AND NEW.spent_micro_pkr >= ceil(spend_limit.limit_micro_pkr::numeric * p / 100);
  NEW.alerted_percent := coalesce(told_percents[cardinality(told_percents)], NEW.alerted_percent);
  NEW.next_alert_micro_pkr := next_spend_alert(spend_limit.limit_micro_pkr, spend_limit.alert_at, NEW.alerted_percent);
  IF NEW.refused_at IS NOT NULL AND OLD.refused_at IS NULL AND 100 <> ALL (told_percents) THEN
    told_percents := told_percents || 100;
  END IF;
  IF cardinality(told_percents) = 0 THEN RETURN NEW; END IF;

  told := jsonb_build_object(
    'limitId', spend_limit.id, 'scope', spend_limit.scope_kind, 'scopeId', spend_limit.scope_id,
    'scopeName', CASE spend_limit.scope_kind
      WHEN 'project' THEN (SELECT name FROM projects WHERE id = spend_limit.scope_id)
      WHEN 'key' THEN (SELECT key_prefix FROM api_keys WHERE id = spend_limit.scope_id)
      WHEN 'member' THEN (SELECT email FROM users WHERE id = spend_limit.scope_id)
    END,
    'metadataName', spend_limit.metadata_name,
    'metadataValue', coalesce(spend_limit.metadata_value, substr(nullif(NEW.value, ''), 2)),
    'window', spend_limit.time_window, 'timeZone', spend_limit.time_zone, 'mode', spend_limit.mode,
    'limitMicroPkr', spend_limit.limit_micro_pkr::text, 'spentMicroPkr', NEW.spent_micro_pkr::text,
    'heldMicroPkr', NEW.held_micro_pkr::text,
    'startedAt', (extract(epoch FROM NEW.started_at) * 1000000)::bigint,
    'endsAt', CASE WHEN isfinite(NEW.ends_at) THEN (extract(epoch FROM NEW.ends_at) * 1000000)::bigint END);
  FOR i IN 1..cardinality(told_percents) LOOP
    PERFORM write_alert(
      spend_limit.organization_id,
      CASE told_percents[i] WHEN 100 THEN 'spend_limit.reached' ELSE 'spend_limit.threshold_reached' END,
      concat_ws(' ', 'spend', NEW.id, told_percents[i], spend_limit.limit_micro_pkr),
      told || jsonb_build_object('percent', told_percents[i]));
  END LOOP;
  RETURN NEW;
END
$$;
