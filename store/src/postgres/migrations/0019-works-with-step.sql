-- The oldest step whose versions work on the schema that a step leaves. A version before that refuses to start; the others start and leave
-- the schema as it is. Null: only versions that know the step.
-- works with step 18

ALTER TABLE schema_migrations ADD COLUMN works_with_step integer;
