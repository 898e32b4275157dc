-- The items of translated responses, to which their callers' next requests may refer. Each is sealed under a key that only its id gives,
-- and the id is not stored. An older version knows nothing of them and leaves them alone.
-- works with step 18

CREATE TABLE kept_items (
  organization_id uuid NOT NULL REFERENCES organizations (id),
  id_hash bytea NOT NULL CHECK (length(id_hash) = 32),
  sealed bytea NOT NULL CHECK (length(sealed) <= 262144),
  kept_until timestamptz NOT NULL,
  PRIMARY KEY (organization_id, id_hash)
);
CREATE INDEX kept_items_kept_until ON kept_items (kept_until);
