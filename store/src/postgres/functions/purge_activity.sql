-- owner: gatehouse_retention
--
-- Removes an organisation's oldest log entries that are past its retention, at most `in_at_most`, and leaves a
-- checkpoint. It stops before an entry that does not verify: evidence of tampering stays in the log.
CREATE OR REPLACE FUNCTION purge_activity(
  in_organization_id uuid,
  in_at_most integer,
  OUT removed bigint,
  -- The first entry that does not verify; null when all that were looked at do.
  OUT broken_sequence bigint
) LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  cutoff timestamptz;
  is_ahead boolean;
  expected_sequence bigint;
  chain_hash bytea;
  through activity_events%ROWTYPE;
  entry activity_events%ROWTYPE;
BEGIN
  removed := 0;
  PERFORM pg_advisory_xact_lock(hashtextextended('activity retention ' || in_organization_id, 0));
  SELECT clock_timestamp() - make_interval(days => coalesce(activity_retention_days, 365)) INTO cutoff
  FROM organizations WHERE id = in_organization_id;
  IF NOT FOUND THEN RETURN; END IF;

  SELECT through_sequence + 1, hash INTO expected_sequence, chain_hash
  FROM activity_checkpoints WHERE organization_id = in_organization_id
  ORDER BY through_sequence DESC LIMIT 1;
  IF NOT FOUND THEN
    expected_sequence := 1;
    chain_hash := decode(repeat('00', 32), 'hex');
  END IF;

  FOR entry IN
    SELECT * FROM activity_events WHERE organization_id = in_organization_id ORDER BY sequence LIMIT in_at_most
  LOOP
    -- An entry dated in the future was written while the clock was ahead. The entries after it tell its age.
    is_ahead := entry.occurred_at > clock_timestamp() + interval '1 minute';
    EXIT WHEN entry.occurred_at >= cutoff AND NOT is_ahead;
    -- Gatehouse writes no time outside these years, and no infinity: such a time is tampering.
    IF entry.sequence = expected_sequence AND entry.occurred_at > '2000-01-01' AND entry.occurred_at < '3000-01-01' THEN
      chain_hash := activity_entry_hash(chain_hash, entry.organization_id, entry.sequence, entry.actor_user_id,
                                        entry.action, entry.target, entry.source_ip, entry.occurred_at);
    ELSE
      chain_hash := NULL;
    END IF;
    IF chain_hash IS NULL OR chain_hash IS DISTINCT FROM entry.hash THEN
      broken_sequence := least(entry.sequence, expected_sequence);
      EXIT;
    END IF;
    IF NOT is_ahead THEN through := entry; END IF;
    expected_sequence := expected_sequence + 1;
  END LOOP;
  IF through.sequence IS NULL THEN RETURN; END IF;

  DELETE FROM activity_events WHERE organization_id = in_organization_id AND sequence <= through.sequence;
  GET DIAGNOSTICS removed = ROW_COUNT;
  INSERT INTO activity_checkpoints (organization_id, through_sequence, hash, through_occurred_at)
  VALUES (in_organization_id, through.sequence, through.hash, through.occurred_at);
END
$$;
REVOKE EXECUTE ON FUNCTION purge_activity FROM PUBLIC;
GRANT EXECUTE ON FUNCTION purge_activity TO gatehouse_service;
