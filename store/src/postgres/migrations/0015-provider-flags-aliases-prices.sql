-- How providers differ from their protocol, other names of routes, and prices of every part of a request.

ALTER TABLE providers
  -- The flags that the catalogue states, by name; the others depend on the protocol.
  ADD COLUMN flags jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(flags) = 'object');

ALTER TABLE routes
  -- Of cache entries that live an hour; of the others, cache_write.
  ADD COLUMN cache_write_1h_micro_pkr_per_million bigint CHECK (cache_write_1h_micro_pkr_per_million >= 0),
  -- Other prices of long prompts: a list of {"abovePromptTokens", "input", "output", "cacheWrite", "cacheWrite1h",
  -- "cacheRead"}, ascending; prices in micro-PKR per million tokens.
  ADD COLUMN price_tiers jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(price_tiers) = 'array'),
  -- What is priced per call, by name, in micro-PKR.
  ADD COLUMN price_per_call jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(price_per_call) = 'object');

-- Other names under which callers reach a route. No name is an alias twice, or of one route and the id of another active one.
CREATE TABLE route_aliases (
  alias text PRIMARY KEY,
  route_id text NOT NULL REFERENCES routes (id)
);
CREATE INDEX route_aliases_by_route ON route_aliases (route_id);

CREATE FUNCTION refuse_shared_route_name() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$;
CREATE TRIGGER route_ids_are_no_aliases BEFORE INSERT OR UPDATE OF id, is_active ON routes
  FOR EACH ROW WHEN (NEW.is_active) EXECUTE FUNCTION refuse_shared_route_name();
CREATE TRIGGER aliases_are_no_route_ids BEFORE INSERT OR UPDATE ON route_aliases
  FOR EACH ROW EXECUTE FUNCTION refuse_shared_route_name();

-- A cache price that the file did not state was stored as 0, and cached tokens on platform capacity were charged as
-- input. They are charged at the cache prices from here on, so 0 would make them free.
UPDATE routes SET cache_write_micro_pkr_per_million = input_micro_pkr_per_million
WHERE cache_write_micro_pkr_per_million = 0 AND NOT is_builtin;
UPDATE routes SET cache_read_micro_pkr_per_million = input_micro_pkr_per_million
WHERE cache_read_micro_pkr_per_million = 0 AND NOT is_builtin;
UPDATE routes SET cache_write_1h_micro_pkr_per_million = cache_write_micro_pkr_per_million;
ALTER TABLE routes ALTER COLUMN cache_write_1h_micro_pkr_per_million SET NOT NULL;

-- Shipped providers whose differences had no flag: one refuses unknown members, the others want their own back.
UPDATE providers SET flags = '{"streamUsage": "never", "strictFields": true}' WHERE base_url = 'https://api.mistral.ai/v1';
UPDATE providers SET flags = '{"keep": ["reasoning_content"]}' WHERE base_url = 'https://api.deepseek.com';
UPDATE providers SET flags = '{"keep": ["extra_content"]}'
WHERE base_url = 'https://generativelanguage.googleapis.com/v1beta/openai';
