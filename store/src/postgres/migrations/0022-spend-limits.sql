-- Limits of what may be spent in a window of the calendar, and what was. A gateway of the version before keeps them, because it calls
-- `admit_batch`; it says of a request that one refuses that the key's credit is used up.
-- works with step 18

CREATE TABLE spend_limits (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  organization_id uuid NOT NULL REFERENCES organizations (id),
  scope_kind text NOT NULL CHECK (scope_kind IN ('organization', 'project', 'key', 'member', 'metadata')),
  -- A project, key or member.
  scope_id uuid,
  -- Null for any value: each then has a window of its own.
  metadata_name text,
  metadata_value text,
  time_window text NOT NULL CHECK (time_window IN ('hour', 'day', 'week', 'month', 'lifetime')),
  time_zone text NOT NULL,
  limit_micro_pkr bigint NOT NULL CHECK (limit_micro_pkr >= 0),
  mode text NOT NULL CHECK (mode IN ('refuse', 'alert')),
  alert_at smallint[] NOT NULL,
  created_by uuid REFERENCES users (id) ON DELETE SET NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  CHECK ((scope_id IS NOT NULL) = (scope_kind IN ('project', 'key', 'member'))),
  CHECK ((metadata_name IS NOT NULL) = (scope_kind = 'metadata')),
  CHECK (metadata_value IS NULL OR scope_kind = 'metadata')
);
CREATE INDEX spend_limits_by_organization ON spend_limits (organization_id, created_at DESC, id);

-- What was spent and is held in a window of a limit. A row comes with the first request of its window (functions/open_spend_window.sql).
-- Rows change under a lock on the balance of their organisation.
CREATE TABLE spend_windows (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  limit_id uuid NOT NULL REFERENCES spend_limits (id) ON DELETE CASCADE,
  -- `=` and the value that has this window for itself; or empty, for all requests that have no other.
  value text NOT NULL,
  started_at timestamptz NOT NULL,
  ends_at timestamptz NOT NULL,
  -- How many values have a window for themselves beside this one.
  values_apart integer NOT NULL DEFAULT 0,
  spent_micro_pkr bigint NOT NULL DEFAULT 0,
  held_micro_pkr bigint NOT NULL DEFAULT 0 CHECK (held_micro_pkr >= 0),
  CONSTRAINT spend_windows_are_distinct UNIQUE (limit_id, value, started_at)
) WITH (fillfactor = 50);
CREATE INDEX spend_windows_by_start ON spend_windows (limit_id, started_at);
CREATE INDEX spend_windows_by_end ON spend_windows (ends_at);

-- How many limits an organisation has, where an admission finds it without a question of its own.
ALTER TABLE balances ADD COLUMN spend_limits integer NOT NULL DEFAULT 0;
-- The windows that a request belongs to; null: none.
ALTER TABLE holds ADD COLUMN window_ids uuid[];

-- The keys of a member who is deleted go on, and nobody's.
ALTER TABLE api_keys
  DROP CONSTRAINT api_keys_created_by_fkey,
  ADD CONSTRAINT api_keys_created_by_fkey FOREIGN KEY (created_by) REFERENCES users (id) ON DELETE SET NULL;

-- No version in use calls it.
DROP FUNCTION admit_requests;
