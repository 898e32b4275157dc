-- Gateway keys and the money that bounds them. Every amount is an integer of micro-PKR.

CREATE TABLE api_keys (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  organization_id uuid NOT NULL REFERENCES organizations (id),
  project_id uuid NOT NULL REFERENCES projects (id),
  name text NOT NULL,
  key_prefix text NOT NULL,
  secret_hash bytea NOT NULL CONSTRAINT api_keys_secret_unique UNIQUE,
  rate_limit_rpm integer NOT NULL CHECK (rate_limit_rpm >= 1),
  expires_at timestamptz,
  credit_limit_micro_pkr bigint CHECK (credit_limit_micro_pkr > 0),
  allowed_models text[] CHECK (cardinality(allowed_models) > 0),
  environment text NOT NULL CHECK (environment IN ('production', 'development', 'testing')),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  revoked_at timestamptz,
  -- Settled cost of every finished request, and what requests in flight hold.
  spent_micro_pkr bigint NOT NULL DEFAULT 0,
  held_micro_pkr bigint NOT NULL DEFAULT 0 CHECK (held_micro_pkr >= 0)
);

CREATE INDEX api_keys_live_by_organization ON api_keys (organization_id, created_at DESC, id)
  WHERE revoked_at IS NULL;

-- Repeats of one creation request are recognised by this for a day.
CREATE TABLE idempotency_keys (
  organization_id uuid NOT NULL REFERENCES organizations (id),
  idempotency_key text NOT NULL,
  api_key_id uuid NOT NULL REFERENCES api_keys (id),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (organization_id, idempotency_key)
);

CREATE TABLE deposits (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  organization_id uuid NOT NULL REFERENCES organizations (id),
  amount_micro_pkr bigint NOT NULL CHECK (amount_micro_pkr > 0),
  note text,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE INDEX deposits_by_organization ON deposits (organization_id);
-- The organisation's running totals, kept beside the deposits so that admission reads one row. Its own table:
-- money moving must not wait for, nor block, whoever locks the organisation's row.
CREATE TABLE balances (
  organization_id uuid PRIMARY KEY REFERENCES organizations (id),
  deposited_micro_pkr bigint NOT NULL DEFAULT 0,
  spent_micro_pkr bigint NOT NULL DEFAULT 0,
  held_micro_pkr bigint NOT NULL DEFAULT 0 CHECK (held_micro_pkr >= 0)
);

-- What a request in flight may cost at worst. Past its deadline (the gateway died) the hold is released.
CREATE TABLE holds (
  request_id uuid PRIMARY KEY,
  key_id uuid NOT NULL REFERENCES api_keys (id),
  organization_id uuid NOT NULL REFERENCES organizations (id),
  amount_micro_pkr bigint NOT NULL CHECK (amount_micro_pkr >= 0),
  deadline timestamptz NOT NULL
);

CREATE INDEX holds_by_deadline ON holds (deadline);

-- What each finished request cost. The primary key is what makes settling twice harmless.
CREATE TABLE settlements (
  request_id uuid PRIMARY KEY,
  organization_id uuid NOT NULL,
  key_id uuid NOT NULL,
  cost_micro_pkr bigint NOT NULL CHECK (cost_micro_pkr >= 0),
  settled_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
