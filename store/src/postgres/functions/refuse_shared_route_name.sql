-- A name that is an alias is not the id of an active route. Changes of names wait for each other, under one lock: a catalogue
-- has more names than the server has locks.
CREATE OR REPLACE FUNCTION refuse_shared_route_name() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  the_name text := CASE TG_TABLE_NAME WHEN 'routes' THEN to_jsonb(NEW) ->> 'id' ELSE to_jsonb(NEW) ->> 'alias' END;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('gatehouse route names', 0));
  IF EXISTS (SELECT FROM route_aliases a WHERE a.alias = the_name AND TG_TABLE_NAME = 'routes')
    OR EXISTS (SELECT FROM routes r WHERE r.id = the_name AND r.is_active AND TG_TABLE_NAME = 'route_aliases')
  THEN
    RAISE EXCEPTION 'the name % is both an alias and the id of an active route', the_name
      USING ERRCODE = 'unique_violation', CONSTRAINT = 'route_names_are_unique';
  END IF;
  RETURN NEW;
END
$$;
