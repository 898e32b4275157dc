-- The member who minted a key, and the secret that a rotated key had before, which is accepted until its grace ends. An older gateway
-- knows no previous secrets: during an upgrade it refuses them.
-- works with step 18

ALTER TABLE api_keys ADD COLUMN created_by uuid REFERENCES users (id);

CREATE TABLE previous_secrets (
  key_id uuid PRIMARY KEY REFERENCES api_keys (id),
  organization_id uuid NOT NULL REFERENCES organizations (id),
  secret_hash bytea NOT NULL CONSTRAINT previous_secrets_secret_unique UNIQUE,
  key_prefix text NOT NULL,
  valid_until timestamptz NOT NULL
);
CREATE INDEX previous_secrets_valid_until ON previous_secrets (valid_until);
