-- The attempts of a request, one after the other, as the JSON of request-attempts.ts; '' for a request that was not sent
-- to a provider. No figure reads it. One text costs an insert a third of what an array of each member costs.
ALTER TABLE {database}.request_log ADD COLUMN IF NOT EXISTS attempts String CODEC(ZSTD(1));
