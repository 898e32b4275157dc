-- The catalogue: which providers there are and which routes callers may name. The route's row is read for
-- every gateway request, so a change holds from the next one.

CREATE TABLE providers (
  name text PRIMARY KEY,
  protocol text NOT NULL CHECK (protocol IN ('openai', 'anthropic', 'demo')),
  base_url text,
  -- The name of the environment variable that holds the platform's own key; null when it needs none.
  api_key_env text
);

CREATE TABLE routes (
  id text PRIMARY KEY,
  provider text NOT NULL REFERENCES providers (name),
  upstream_model text NOT NULL,
  endpoints text[] NOT NULL,
  -- Prices in micro-PKR per million tokens.
  input_micro_pkr_per_million bigint NOT NULL CHECK (input_micro_pkr_per_million >= 0),
  output_micro_pkr_per_million bigint NOT NULL CHECK (output_micro_pkr_per_million >= 0),
  cache_write_micro_pkr_per_million bigint NOT NULL CHECK (cache_write_micro_pkr_per_million >= 0),
  cache_read_micro_pkr_per_million bigint NOT NULL CHECK (cache_read_micro_pkr_per_million >= 0),
  -- The platform's share when the caller's own provider key is used, in millionths of the price (5 % = 50000).
  byok_fee_millionths bigint NOT NULL CHECK (byok_fee_millionths >= 0),
  max_output_tokens bigint NOT NULL CHECK (max_output_tokens > 0),
  timeout_ms integer NOT NULL CHECK (timeout_ms > 0),
  is_active boolean NOT NULL DEFAULT true,
  -- Put there by the service itself, not by a catalogue file; taken out of service where only files count.
  is_builtin boolean NOT NULL DEFAULT false,
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
