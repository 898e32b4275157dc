-- Signing in with Google. An account is known by the subject that Google gave it, never by its address.

ALTER TABLE users ADD COLUMN google_subject text CONSTRAINT users_google_subject_unique UNIQUE;

-- ID tokens with a nonce that have signed somebody in: they do so once. Kept until they would have expired.
CREATE TABLE used_google_credentials (
  credential_hash bytea PRIMARY KEY,
  expires_at timestamptz NOT NULL
);

CREATE INDEX used_google_credentials_by_expiry ON used_google_credentials (expires_at);

GRANT SELECT, INSERT, UPDATE, DELETE ON used_google_credentials TO gatehouse_service;
