-- Writes the next entry of an organisation's log. The head row stays locked until the commit, which orders the entries.
CREATE OR REPLACE FUNCTION append_activity(
  in_organization_id uuid,
  in_actor_user_id uuid,
  in_action text,
  in_target text,
  in_source_ip text
) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  head activity_heads%ROWTYPE;
  now_at timestamptz;
  entry_hash bytea;
BEGIN
  -- Far above every real entry. One that is too long to be read back would block those after it.
  IF octet_length(in_action) > 100 OR octet_length(in_target) > 4096 OR octet_length(in_source_ip) > 100 THEN
    RAISE EXCEPTION 'an entry of the activity log is too long';
  END IF;
  LOOP
    SELECT * INTO head FROM activity_heads WHERE organization_id = in_organization_id FOR NO KEY UPDATE;
    EXIT WHEN FOUND;
    INSERT INTO activity_heads (organization_id) VALUES (in_organization_id) ON CONFLICT DO NOTHING;
  END LOOP;
  -- Later than the entry before it, so that times are unique and ascending. A clock that was far ahead for a moment
  -- must not set the times of all later entries, so a gap of more than a minute is not kept up with.
  now_at := clock_timestamp();
  IF head.last_occurred_at < now_at + interval '1 minute' THEN
    now_at := greatest(now_at, head.last_occurred_at + interval '1 microsecond');
  END IF;
  entry_hash := activity_entry_hash(head.last_hash, in_organization_id, head.last_sequence + 1, in_actor_user_id,
                                    in_action, in_target, in_source_ip, now_at);
  INSERT INTO activity_events
    (organization_id, sequence, actor_user_id, action, target, source_ip, occurred_at, hash)
  VALUES (in_organization_id, head.last_sequence + 1, in_actor_user_id, in_action, in_target, in_source_ip,
          now_at, entry_hash);
  UPDATE activity_heads
  SET last_sequence = head.last_sequence + 1, last_hash = entry_hash, last_occurred_at = now_at
  WHERE organization_id = in_organization_id;
END
$$;
REVOKE EXECUTE ON FUNCTION append_activity FROM PUBLIC;
GRANT EXECUTE ON FUNCTION append_activity TO gatehouse_service;
