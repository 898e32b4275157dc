-- Trigger: stored keys of these organisations were added, replaced, sealed again or removed. In the order of the ids, so that two
-- statements cannot deadlock.
CREATE OR REPLACE FUNCTION raise_vault_revisions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO vault_revisions AS r (organization_id, revision)
  SELECT DISTINCT organization_id, 1 FROM changed ORDER BY organization_id
  ON CONFLICT (organization_id) DO UPDATE SET revision = r.revision + 1;
  RETURN NULL;
END
$$;
