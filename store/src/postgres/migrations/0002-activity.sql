-- The activity log. The head row carries the number of the newest entry of an organisation, so that entries
-- of one organisation are numbered without gaps and without touching the organisation's own row.

CREATE TABLE activity_heads (
  organization_id uuid PRIMARY KEY REFERENCES organizations (id),
  last_sequence bigint NOT NULL DEFAULT 0
);

CREATE TABLE activity_events (
  organization_id uuid NOT NULL REFERENCES organizations (id),
  sequence bigint NOT NULL,
  -- No reference on purpose: the entry outlives the account, and its actor is then shown as null.
  actor_user_id uuid,
  action text NOT NULL,
  target text NOT NULL,
  source_ip text NOT NULL,
  occurred_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (organization_id, sequence)
);

CREATE FUNCTION refuse_activity_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'activity_events is append-only: % is refused', TG_OP;
END
$$;

CREATE TRIGGER activity_events_append_only BEFORE UPDATE OR DELETE ON activity_events
  FOR EACH ROW EXECUTE FUNCTION refuse_activity_change();
CREATE TRIGGER activity_events_no_truncate BEFORE TRUNCATE ON activity_events
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_activity_change();
