-- What a catalogue file may say beside the price: how the output cap is sent, how large it is by default and at least,
-- how much a prompt can hold, and which members of a request are refused on the platform's own credential.

ALTER TABLE providers
  -- The member under which the provider reads the output cap.
  ADD COLUMN output_limit text NOT NULL DEFAULT 'max_completion_tokens'
    CHECK (output_limit IN ('max_tokens', 'max_completion_tokens', 'both')),
  -- Lists of {"member": text, "values": texts or null}. In `deny`, values are what stays allowed, and no list at all is
  -- the gateway's own default; in `allow`, values are what is allowed besides.
  ADD COLUMN deny jsonb CHECK (jsonb_typeof(deny) = 'array'),
  ADD COLUMN allow jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(allow) = 'array');

ALTER TABLE routes
  -- Null where the file does not say: the gateway's own default, never above max_output_tokens.
  ADD COLUMN default_output_tokens bigint
    CHECK (default_output_tokens BETWEEN 1 AND max_output_tokens),
  ADD COLUMN min_output_tokens bigint
    CHECK (min_output_tokens BETWEEN 1 AND max_output_tokens),
  -- Null where the file does not say: unknown.
  ADD COLUMN max_input_tokens bigint CHECK (max_input_tokens > 0),
  ADD COLUMN allow jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(allow) = 'array');

-- Catalogues were shipped with these providers, whose cap was sent under a name that they do not read.
UPDATE providers SET output_limit = 'max_tokens'
WHERE base_url IN ('https://api.mistral.ai/v1', 'https://api.deepseek.com', 'https://generativelanguage.googleapis.com/v1beta/openai');
UPDATE providers SET output_limit = 'both' WHERE base_url = 'http://127.0.0.1:11434/v1';
