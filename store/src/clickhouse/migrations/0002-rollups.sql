-- A month that is over becomes one part once it has rested for a day. Each part costs every question a little.
ALTER TABLE {database}.request_log
    MODIFY SETTING min_age_to_force_merge_seconds = 86400, min_age_to_force_merge_on_partition_only = 1;

-- Integers that are summed, packed to the bits that they use: a third faster to read, and smaller.
ALTER TABLE {database}.request_log MODIFY COLUMN tokens_generated UInt64 CODEC(T64, ZSTD(1));
ALTER TABLE {database}.request_log MODIFY COLUMN total_tokens UInt64 CODEC(T64, ZSTD(1));
ALTER TABLE {database}.request_log MODIFY COLUMN cost_micro_pkr Int64 CODEC(T64, ZSTD(1));

-- Durations as whole microseconds, as the gateway measures them. Sums of integers are the same in every order, so a
-- window answered from sums of hours is to the last digit what its rows give. Stored, because computing them for each
-- question takes three times as long as reading them.
ALTER TABLE {database}.request_log ADD COLUMN IF NOT EXISTS
    total_us Int64 MATERIALIZED toInt64(round(total_ms * 1000)) CODEC(T64, ZSTD(1));
ALTER TABLE {database}.request_log ADD COLUMN IF NOT EXISTS
    ttft_us Nullable(Int64) MATERIALIZED toInt64(round(ttft_ms * 1000)) CODEC(T64, ZSTD(1));
-- A stream generates from its first token on, any other response from when the upstream was asked. Null where nothing
-- was generated, and where a stream's first token is not known.
ALTER TABLE {database}.request_log ADD COLUMN IF NOT EXISTS
    generation_us Nullable(Int64) MATERIALIZED
        if(tokens_generated > 0,
           toInt64(round(total_ms * 1000)) - toInt64(round(if(stream, ttft_ms, pre_dispatch_ms) * 1000)), NULL)
        CODEC(T64, ZSTD(1));

-- The sums of each hour, once by key and once by model, a sixth of the table together. As projections they are written
-- with the rows they sum, in the same part, and go with them: they can be neither behind the table nor ahead of it.
-- A question uses one by asking for toStartOfHour(timestamp) and these very expressions.
ALTER TABLE {database}.request_log ADD PROJECTION IF NOT EXISTS hourly_by_key
(
    SELECT organization_id, toStartOfHour(timestamp), project_id, key_id,
           count(), sum(total_us), sum(ttft_us), count(ttft_us),
           sumIf(tokens_generated, isNotNull(generation_us)), sum(generation_us),
           sum(total_tokens), sum(cost_micro_pkr), max(timestamp)
    GROUP BY organization_id, toStartOfHour(timestamp), project_id, key_id
);
ALTER TABLE {database}.request_log ADD PROJECTION IF NOT EXISTS hourly_by_model
(
    SELECT organization_id, toStartOfHour(timestamp), model,
           count(), sum(total_us), sum(ttft_us), count(ttft_us),
           sumIf(tokens_generated, isNotNull(generation_us)), sum(generation_us),
           sum(total_tokens), sum(cost_micro_pkr)
    GROUP BY organization_id, toStartOfHour(timestamp), model
);
-- For rows that were there before. The engine does it in the background; until then it reads those rows themselves.
ALTER TABLE {database}.request_log MATERIALIZE PROJECTION hourly_by_key SETTINGS mutations_sync = 0;
ALTER TABLE {database}.request_log MATERIALIZE PROJECTION hourly_by_model SETTINGS mutations_sync = 0;

-- When each key was last used, a row a key once merged; until then several: always aggregate. It outlives the rows it
-- comes from, so that a key does not look unused when they are no longer kept.
CREATE TABLE IF NOT EXISTS {database}.key_last_used
(
    organization_id UUID                                               CODEC(ZSTD(1)),
    key_id          UUID                                               CODEC(ZSTD(1)),
    last_used_at    SimpleAggregateFunction(max, DateTime64(6, 'UTC')) CODEC(ZSTD(1))
)
ENGINE = AggregatingMergeTree
ORDER BY (organization_id, key_id)
SETTINGS non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS {database}.key_last_used_from_request_log TO {database}.key_last_used AS
SELECT log.organization_id AS organization_id, assumeNotNull(log.key_id) AS key_id, max(log.timestamp) AS last_used_at
FROM {database}.request_log AS log
WHERE log.key_id IS NOT NULL
GROUP BY organization_id, key_id;

-- What came before the view. A row too many changes nothing.
INSERT INTO {database}.key_last_used
SELECT organization_id, assumeNotNull(key_id), max(timestamp)
FROM {database}.request_log
WHERE key_id IS NOT NULL
GROUP BY organization_id, key_id;

-- What key_usage was for is now in key_last_used (the last use) and in hourly_by_key (requests and spend).
DROP VIEW IF EXISTS {database}.key_usage_from_request_log SYNC;
DROP TABLE IF EXISTS {database}.key_usage SYNC;
