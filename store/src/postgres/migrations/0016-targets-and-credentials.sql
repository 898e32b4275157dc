-- A route has one or more targets, a provider has any number of credentials. What depends on the target or on the credential moves
-- there. Versions say when the catalogue, or what an organisation stored in the vault, has changed.

CREATE TABLE provider_credentials (
  provider text NOT NULL REFERENCES providers (name),
  name text NOT NULL CHECK (name <> ''),
  position smallint NOT NULL CHECK (position BETWEEN 0 AND 31),
  -- The name of the environment variable that holds the key.
  api_key_env text NOT NULL CHECK (api_key_env <> ''),
  weight smallint NOT NULL DEFAULT 1 CHECK (weight BETWEEN 1 AND 1000),
  PRIMARY KEY (provider, name),
  CONSTRAINT provider_credentials_positions UNIQUE (provider, position)
);

INSERT INTO provider_credentials (provider, name, position, api_key_env)
SELECT name, 'default', 0, api_key_env FROM providers WHERE api_key_env <> '';

-- A provider without credentials takes no key.
ALTER TABLE providers DROP COLUMN api_key_env;

CREATE TABLE route_targets (
  route_id text NOT NULL REFERENCES routes (id),
  position smallint NOT NULL CHECK (position BETWEEN 0 AND 15),
  provider text NOT NULL REFERENCES providers (name),
  upstream_model text NOT NULL,
  -- Prices in micro-PKR per million tokens.
  input_micro_pkr_per_million bigint NOT NULL CHECK (input_micro_pkr_per_million >= 0),
  output_micro_pkr_per_million bigint NOT NULL CHECK (output_micro_pkr_per_million >= 0),
  cache_write_micro_pkr_per_million bigint NOT NULL CHECK (cache_write_micro_pkr_per_million >= 0),
  cache_write_1h_micro_pkr_per_million bigint NOT NULL CHECK (cache_write_1h_micro_pkr_per_million >= 0),
  cache_read_micro_pkr_per_million bigint NOT NULL CHECK (cache_read_micro_pkr_per_million >= 0),
  -- As they were in routes: step 15.
  price_tiers jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(price_tiers) = 'array'),
  price_per_call jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(price_per_call) = 'object'),
  byok_fee_millionths bigint NOT NULL CHECK (byok_fee_millionths >= 0),
  -- The lowest number is tried first; weights share the requests between targets of one priority.
  priority smallint NOT NULL DEFAULT 1 CHECK (priority BETWEEN 1 AND 100),
  weight smallint NOT NULL DEFAULT 1 CHECK (weight BETWEEN 1 AND 1000),
  PRIMARY KEY (route_id, position),
  CONSTRAINT route_targets_are_distinct UNIQUE (route_id, provider, upstream_model)
);

INSERT INTO route_targets (route_id, position, provider, upstream_model, input_micro_pkr_per_million, output_micro_pkr_per_million,
  cache_write_micro_pkr_per_million, cache_write_1h_micro_pkr_per_million, cache_read_micro_pkr_per_million,
  price_tiers, price_per_call, byok_fee_millionths)
SELECT id, 0, provider, upstream_model, input_micro_pkr_per_million, output_micro_pkr_per_million,
  cache_write_micro_pkr_per_million, cache_write_1h_micro_pkr_per_million, cache_read_micro_pkr_per_million,
  price_tiers, price_per_call, byok_fee_millionths
FROM routes;

ALTER TABLE routes
  DROP COLUMN provider,
  DROP COLUMN upstream_model,
  DROP COLUMN input_micro_pkr_per_million,
  DROP COLUMN output_micro_pkr_per_million,
  DROP COLUMN cache_write_micro_pkr_per_million,
  DROP COLUMN cache_write_1h_micro_pkr_per_million,
  DROP COLUMN cache_read_micro_pkr_per_million,
  DROP COLUMN price_tiers,
  DROP COLUMN price_per_call,
  DROP COLUMN byok_fee_millionths,
  ADD COLUMN max_attempts smallint NOT NULL DEFAULT 3 CHECK (max_attempts BETWEEN 1 AND 16),
  -- To the first content of an attempt, where another can follow; null for the time limit of the route.
  ADD COLUMN attempt_timeout_ms integer CHECK (attempt_timeout_ms > 0),
  -- How long a request waits while no target can be tried.
  ADD COLUMN queue_ms integer NOT NULL DEFAULT 0 CHECK (queue_ms >= 0);

-- Raised by every transaction that changes the catalogue.
CREATE TABLE catalogue_version (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  version bigint NOT NULL
);
INSERT INTO catalogue_version (version) VALUES (1);

CREATE FUNCTION raise_catalogue_version() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
CREATE TRIGGER providers_raise_version AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON providers
  FOR EACH STATEMENT EXECUTE FUNCTION raise_catalogue_version();
CREATE TRIGGER provider_credentials_raise_version AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON provider_credentials
  FOR EACH STATEMENT EXECUTE FUNCTION raise_catalogue_version();
CREATE TRIGGER routes_raise_version AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON routes
  FOR EACH STATEMENT EXECUTE FUNCTION raise_catalogue_version();
CREATE TRIGGER route_targets_raise_version AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON route_targets
  FOR EACH STATEMENT EXECUTE FUNCTION raise_catalogue_version();
CREATE TRIGGER route_aliases_raise_version AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON route_aliases
  FOR EACH STATEMENT EXECUTE FUNCTION raise_catalogue_version();

-- Whether requests of the project may use the platform's credentials after the organisation's own key failed.
ALTER TABLE projects ADD COLUMN byok_fallback boolean NOT NULL DEFAULT false;

-- Raised by every statement that changes which keys of its own an organisation uses. An organisation without a row is at 0.
CREATE TABLE vault_revisions (
  organization_id uuid PRIMARY KEY REFERENCES organizations (id),
  revision bigint NOT NULL CHECK (revision > 0)
);
INSERT INTO vault_revisions (organization_id, revision) SELECT DISTINCT organization_id, 1 FROM vault_keys;

CREATE FUNCTION raise_vault_revisions() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
CREATE TRIGGER vault_inserts_raise_revisions AFTER INSERT ON vault_keys REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION raise_vault_revisions();
CREATE TRIGGER vault_updates_raise_revisions AFTER UPDATE ON vault_keys REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION raise_vault_revisions();
CREATE TRIGGER vault_deletes_raise_revisions AFTER DELETE ON vault_keys REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION raise_vault_revisions();
CREATE FUNCTION raise_vault_revision_of_project() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
CREATE TRIGGER byok_fallbacks_raise_revisions AFTER UPDATE OF byok_fallback ON projects
  FOR EACH ROW WHEN (OLD.byok_fallback IS DISTINCT FROM NEW.byok_fallback) EXECUTE FUNCTION raise_vault_revision_of_project();

-- The circuit breakers of the gateways, for operators to read. A gateway writes its own rows, when a state changes.
CREATE TABLE upstream_states (
  instance text NOT NULL,
  provider text NOT NULL,
  upstream_model text NOT NULL,
  -- 'own' for keys of organisations, empty where the provider takes none.
  credential text NOT NULL,
  state text NOT NULL CHECK (state IN ('closed', 'open', 'half_open')),
  -- Until when an open breaker stays open.
  until timestamptz,
  reason text CHECK (length(reason) <= 200),
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (instance, provider, upstream_model, credential)
);
