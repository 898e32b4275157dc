-- A rotation can be finished once nobody uses the secret from before it.

ALTER TABLE previous_secrets ADD COLUMN last_used_at timestamptz;
