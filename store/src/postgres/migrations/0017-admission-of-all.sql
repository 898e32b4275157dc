-- Requests of all organisations are admitted in one statement (functions/admit_batch.sql).

-- The facts of a key that a gateway may presume: its limits and where it belongs. Whether it is revoked or expired, and its
-- credit, are read from the row itself for every request.
ALTER TABLE api_keys ADD COLUMN facts_revision bigint NOT NULL DEFAULT 0;
CREATE FUNCTION raise_facts_revision() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$;
CREATE TRIGGER api_keys_raise_facts_revision
  BEFORE UPDATE OF organization_id, project_id, key_prefix, rate_limit_rpm, allowed_models, facts_revision ON api_keys
  FOR EACH ROW EXECUTE FUNCTION raise_facts_revision();

-- A hold is inserted only under a lock on the rows of its key and its organisation's balance, and neither is ever deleted.
-- Checking the references took a quarter of an admission's time.
ALTER TABLE holds DROP CONSTRAINT holds_key_id_fkey, DROP CONSTRAINT holds_organization_id_fkey;

-- Each hold is updated once, soon after it was inserted, and accounts all the time. With room on their pages the indexes are
-- not touched.
ALTER TABLE holds SET (fillfactor = 50);
ALTER TABLE api_keys SET (fillfactor = 80);
ALTER TABLE balances SET (fillfactor = 80);
