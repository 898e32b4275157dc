-- Writes an alert of an organisation: a delivery for each of its channels. What was written for the same cause stays as it is. A channel
-- that had as many within an hour as it may have, or that takes none and has as many waiting, gets no further one.
--
-- A channel that is being deleted is waited for, and then has none: a request must not fail because of it.
--
-- A delivery may arrive before a crash of this server, and must not be forgotten in it: the commit waits for the disk.
CREATE OR REPLACE FUNCTION write_alert(in_organization_id uuid, in_type text, in_cause text, in_data jsonb)
RETURNS void LANGUAGE plpgsql
SET enable_seqscan = off
AS $$
DECLARE
  most_webhooks_hourly CONSTANT integer := 1000;
  most_emails_hourly CONSTANT integer := 100;
  most_pending CONSTANT integer := 1000;
BEGIN
  INSERT INTO alert_deliveries (id, channel_id, organization_id, type, data)
  -- A uuid of version 8: bits of the hash, but for the version and the variant.
  SELECT encode(set_byte(set_byte(hash.bits, 6, get_byte(hash.bits, 6) & 15 | 128), 8, get_byte(hash.bits, 8) & 63 | 128), 'hex')::uuid,
         c.id, in_organization_id, in_type, in_data
  FROM alert_channels c
  CROSS JOIN LATERAL (SELECT substr(sha256(convert_to(in_cause || ' ' || c.id, 'UTF8')), 1, 16) AS bits) AS hash
  CROSS JOIN LATERAL (SELECT CASE c.kind WHEN 'email' THEN most_emails_hourly ELSE most_webhooks_hourly END AS hourly) AS most
  WHERE c.organization_id = in_organization_id AND most.hourly > (
    SELECT count(*) FROM (
      SELECT FROM alert_deliveries d
      WHERE d.channel_id = c.id AND d.created_at > clock_timestamp() - interval '1 hour'
      LIMIT most.hourly
    ) AS written
  ) AND most_pending > (
    SELECT count(*) FROM (
      SELECT FROM alert_deliveries d WHERE d.channel_id = c.id AND d.status = 'pending' LIMIT most_pending
    ) AS waiting
  )
  FOR KEY SHARE OF c
  ON CONFLICT (id) DO NOTHING;
  IF FOUND THEN PERFORM set_config('synchronous_commit', 'on', true); END IF;
END
$$;
