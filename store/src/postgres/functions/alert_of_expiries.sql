-- Writes the alerts of expiries that are due, of at most `in_most` keys, and plans the next of each. Returns the number of these keys. Of
-- several nodes that do so at once, a key is one node's.
CREATE OR REPLACE FUNCTION alert_of_expiries(in_most integer) RETURNS integer LANGUAGE plpgsql
SET enable_seqscan = off
AS $$
DECLARE
  due record;
  keys integer := 0;
BEGIN
  FOR due IN
    SELECT k.* FROM api_keys k
    WHERE k.id IN (
      SELECT id FROM api_keys WHERE expiry_alert_at <= clock_timestamp() ORDER BY expiry_alert_at LIMIT in_most
    ) AND k.expiry_alert_at <= clock_timestamp()
    ORDER BY k.id FOR NO KEY UPDATE
  LOOP
    keys := keys + 1;
    UPDATE api_keys SET expiry_alert_at = next_expiry_alert(due.expires_at) WHERE id = due.id;
    CONTINUE WHEN due.revoked_at IS NOT NULL OR due.expires_at <= clock_timestamp();
    PERFORM write_alert(
      due.organization_id, 'key.expiring',
      concat_ws(' ', 'expiry', due.id, next_expiry_alert(due.expires_at) IS NULL, extract(epoch FROM due.expires_at)),
      jsonb_build_object(
        'days', CASE WHEN next_expiry_alert(due.expires_at) IS NULL THEN 1 ELSE 7 END,
        'keyId', due.id, 'name', due.name, 'keyPrefix', due.key_prefix,
        'expiresAt', (extract(epoch FROM due.expires_at) * 1000000)::bigint));
  END LOOP;
  RETURN keys;
END
$$;
