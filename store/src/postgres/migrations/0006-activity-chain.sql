-- The log as a chain. Each entry carries the SHA-256 of the entry before it together with its own canonical
-- bytes, so that whoever changes, removes or moves one has to change all that follow. Entries are written by one
-- function and removed by one other, and the service's role can do neither in any other way.

ALTER TABLE organizations
  -- How many days the log is kept; null: the 365 that apply to all. Only an operator sets it.
  ADD COLUMN activity_retention_days integer
    CONSTRAINT organizations_activity_retention CHECK (activity_retention_days BETWEEN 1 AND 36500);

ALTER TABLE activity_heads
  ADD COLUMN last_hash bytea NOT NULL DEFAULT decode(repeat('00', 32), 'hex'),
  ADD COLUMN last_occurred_at timestamptz NOT NULL DEFAULT '-infinity';

ALTER TABLE activity_events ADD COLUMN hash bytea;

-- Entries hang on the head, which their writer holds anyway, and not on the organisation's own row: a rename
-- holds that one while it waits for the head.
ALTER TABLE activity_events DROP CONSTRAINT activity_events_organization_id_fkey;
ALTER TABLE activity_events ADD CONSTRAINT activity_events_head
  FOREIGN KEY (organization_id) REFERENCES activity_heads (organization_id);

-- Where retention has removed entries: the newest that went, and its hash, by which the next one is checked.
CREATE TABLE activity_checkpoints (
  organization_id uuid NOT NULL REFERENCES activity_heads (organization_id),
  through_sequence bigint NOT NULL,
  hash bytea NOT NULL,
  -- When the newest entry that went was written.
  through_occurred_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (organization_id, through_sequence)
);

-- The canonical bytes, of which each field has one form only: texts with their length in front, the time in
-- microseconds since 1970, an actor's id after a 1 and its absence as a 0. The actor is its id and not its
-- address, so that the chain holds when the account is deleted.
CREATE FUNCTION activity_entry_hash(
  in_previous_hash bytea,
  in_organization_id uuid,
  in_sequence bigint,
  in_actor_user_id uuid,
  in_action text,
  in_target text,
  in_source_ip text,
  in_occurred_at timestamptz
) RETURNS bytea LANGUAGE sql STABLE AS $$
  SELECT sha256(
    in_previous_hash
    || uuid_send(in_organization_id)
    || int8send(in_sequence)
    || coalesce('\x01'::bytea || uuid_send(in_actor_user_id), '\x00'::bytea)
    || int4send(octet_length(convert_to(in_action, 'UTF8'))) || convert_to(in_action, 'UTF8')
    || int4send(octet_length(convert_to(in_target, 'UTF8'))) || convert_to(in_target, 'UTF8')
    || int4send(octet_length(convert_to(in_source_ip, 'UTF8'))) || convert_to(in_source_ip, 'UTF8')
    || int8send((extract(epoch FROM in_occurred_at) * 1000000)::bigint)
  )
$$;

-- What was written before there was a chain is chained as it stands.
ALTER TABLE activity_events DISABLE TRIGGER USER;
DO $$
DECLARE
  entry record;
  head record;
  chain_hash bytea;
  last_at timestamptz;
BEGIN
  FOR head IN SELECT * FROM activity_heads LOOP
    chain_hash := head.last_hash;
    last_at := '-infinity';
    FOR entry IN SELECT * FROM activity_events WHERE organization_id = head.organization_id ORDER BY sequence LOOP
      chain_hash := activity_entry_hash(chain_hash, entry.organization_id, entry.sequence, entry.actor_user_id,
                                        entry.action, entry.target, entry.source_ip, entry.occurred_at);
      UPDATE activity_events SET hash = chain_hash
      WHERE organization_id = entry.organization_id AND sequence = entry.sequence;
      last_at := entry.occurred_at;
    END LOOP;
    -- Once for each: a row that is written over and over in one transaction grows slow.
    UPDATE activity_heads
    SET last_hash = chain_hash, last_occurred_at = last_at
    WHERE organization_id = head.organization_id;
  END LOOP;
END
$$;
-- Until the end of the transaction a table that was written to cannot be altered: its checks come first.
SET CONSTRAINTS ALL IMMEDIATE;
ALTER TABLE activity_events ENABLE TRIGGER USER;
ALTER TABLE activity_events ALTER COLUMN hash SET NOT NULL;

-- Writes the next entry. The head stays locked until the commit, which is what orders an organisation's entries.
CREATE FUNCTION append_activity(
  in_organization_id uuid,
  in_actor_user_id uuid,
  in_action text,
  in_target text,
  in_source_ip text
) RETURNS void LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
  head activity_heads%ROWTYPE;
  now_at timestamptz;
  entry_hash bytea;
BEGIN
  -- Far beyond any that is meant: an entry that nobody can read back would be in the way of all others.
  IF octet_length(in_action) > 100 OR octet_length(in_target) > 4096 OR octet_length(in_source_ip) > 100 THEN
    RAISE EXCEPTION 'an entry of the activity log is too long';
  END IF;
  LOOP
    SELECT * INTO head FROM activity_heads WHERE organization_id = in_organization_id FOR NO KEY UPDATE;
    EXIT WHEN FOUND;
    INSERT INTO activity_heads (organization_id) VALUES (in_organization_id) ON CONFLICT DO NOTHING;
  END LOOP;
  -- Later than the entry before it, so that a time names one place in the log; yet a clock that was far ahead for
  -- a moment does not decide the times of all that follows.
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

-- Removes the oldest entries of an organisation that are past its retention, at most so many, and leaves a
-- checkpoint. It removes nothing that does not verify: what was tampered with stays to be seen.
CREATE FUNCTION purge_activity(
  in_organization_id uuid,
  in_at_most integer,
  OUT removed bigint,
  -- The entry that is not as it was written; null where all that was looked at is.
  OUT broken_sequence bigint
) LANGUAGE plpgsql SECURITY DEFINER AS $$
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
    -- A clock that was ahead for a moment says nothing of the age; those that follow do.
    is_ahead := entry.occurred_at > clock_timestamp() + interval '1 minute';
    EXIT WHEN entry.occurred_at >= cutoff AND NOT is_ahead;
    -- A time before Gatehouse existed was put there; the first that PostgreSQL has is infinitely long ago, and the
    -- last never comes.
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

-- Nobody changes an entry, and only retention removes one: the role whose function is above.
CREATE OR REPLACE FUNCTION refuse_activity_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND current_user = 'gatehouse_retention' THEN RETURN OLD; END IF;
  RAISE EXCEPTION '% is append-only: % is refused', TG_TABLE_NAME, TG_OP;
END
$$;
CREATE TRIGGER activity_checkpoints_append_only BEFORE UPDATE OR DELETE ON activity_checkpoints
  FOR EACH ROW EXECUTE FUNCTION refuse_activity_change();
CREATE TRIGGER activity_checkpoints_no_truncate BEFORE TRUNCATE ON activity_checkpoints
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_activity_change();

-- What the roles may. Both exist before any step runs (roles.ts), because they belong to the server and not to
-- this database.

-- A function that acts with another's rights looks nothing up where its caller can put something.
DO $$
BEGIN
  EXECUTE format('GRANT USAGE ON SCHEMA %I TO gatehouse_service, gatehouse_retention', current_schema());
  EXECUTE format('ALTER FUNCTION append_activity SET search_path = %I, pg_temp', current_schema());
  EXECUTE format('ALTER FUNCTION purge_activity SET search_path = %I, pg_temp', current_schema());
  -- While it is still its maker's to grant: an owner who does not inherit from the next one could not any more.
  REVOKE EXECUTE ON FUNCTION append_activity, purge_activity FROM PUBLIC;
  GRANT EXECUTE ON FUNCTION append_activity, purge_activity TO gatehouse_service;
  -- Whoever is to own a function must be allowed to make one, for this moment.
  EXECUTE format('GRANT CREATE ON SCHEMA %I TO gatehouse_retention', current_schema());
  ALTER FUNCTION purge_activity OWNER TO gatehouse_retention;
  EXECUTE format('REVOKE CREATE ON SCHEMA %I FROM gatehouse_retention', current_schema());
END
$$;
GRANT SELECT (id, activity_retention_days) ON organizations TO gatehouse_retention;
GRANT SELECT, DELETE ON activity_events TO gatehouse_retention;
GRANT SELECT, INSERT ON activity_checkpoints TO gatehouse_retention;

GRANT SELECT ON schema_migrations, activity_heads, activity_events, activity_checkpoints TO gatehouse_service;
GRANT SELECT, INSERT (name, name_key), UPDATE (name, name_key) ON organizations TO gatehouse_service;
GRANT SELECT, INSERT, UPDATE ON users, projects, api_keys, balances, providers, routes TO gatehouse_service;
-- Money that came and money that went stay as they were written.
GRANT SELECT, INSERT ON deposits, settlements TO gatehouse_service;
GRANT SELECT, INSERT, UPDATE, DELETE
  ON sessions, access_tokens, failed_sign_ins, idempotency_keys, holds TO gatehouse_service;
