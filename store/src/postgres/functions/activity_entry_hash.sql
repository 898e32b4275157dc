-- The canonical bytes of a log entry, hashed together with the hash of the entry before it. Each field has one form:
-- a text follows its length, the time is in microseconds since 1970, an actor's id follows a 1 and its absence is a 0.
-- The actor is its id and not its address, so that the chain still verifies after the account was deleted.
CREATE OR REPLACE FUNCTION activity_entry_hash(
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
