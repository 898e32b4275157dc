-- Trigger: whether the project falls back from the organisation's own key to the platform's was switched.
CREATE OR REPLACE FUNCTION raise_vault_revision_of_project() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO vault_revisions AS r (organization_id, revision) VALUES (NEW.organization_id, 1)
  ON CONFLICT (organization_id) DO UPDATE SET revision = r.revision + 1;
  RETURN NULL;
END
$$;
