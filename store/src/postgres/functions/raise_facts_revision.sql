-- Trigger: the facts of a key that gateways presume may have changed.
CREATE OR REPLACE FUNCTION raise_facts_revision() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.facts_revision := OLD.facts_revision + 1;
  RETURN NEW;
END
$$;
