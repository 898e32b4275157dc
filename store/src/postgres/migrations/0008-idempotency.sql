-- A repeat of a creation is told from another request under the same Idempotency-Key by the SHA-256 of the body. Null
-- for what was kept before this step, which is gone within a day.
ALTER TABLE idempotency_keys ADD COLUMN request_sha256 bytea CHECK (octet_length(request_sha256) = 32);

-- The sweep of every minute looks for the old ones.
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);
