-- Which text of each file in functions/, and of grants.sql, the database has. The migrator applies a file again when its
-- checksum differs.
CREATE TABLE schema_files (
  path text PRIMARY KEY,
  checksum text NOT NULL,
  applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
