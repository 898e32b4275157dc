-- One row for each request that reached the gateway with a known key, refused ones too.
--
-- Questions are asked by one organisation about a span of time, so rows lie in that order: the largest organisation of
-- a hundred reads its own rows and no others. The request id makes the order total, which paging needs.
--
-- The deduplication window lets the gateway send a batch again after a lost answer: a batch whose token is among the
-- last thousand is stored once. fsync makes an acknowledged batch outlive a power failure.
CREATE TABLE IF NOT EXISTS {database}.request_log
(
    organization_id             UUID                                   CODEC(ZSTD(1)),
    -- The start of the request.
    timestamp                   DateTime64(6, 'UTC')                   CODEC(Delta, ZSTD(1)),
    request_id                  String                                 CODEC(ZSTD(1)),
    -- Null where nothing is known of whose request it was.
    key_id                      Nullable(UUID)                         CODEC(ZSTD(1)),
    project_id                  Nullable(UUID)                         CODEC(ZSTD(1)),
    -- The route id as the caller sent it.
    model                       LowCardinality(String)                 CODEC(ZSTD(1)),
    status                      UInt16                                 CODEC(ZSTD(1)),
    stream                      Bool                                   CODEC(ZSTD(1)),
    total_ms                    Float64                                CODEC(ZSTD(1)),
    ttft_ms                     Nullable(Float64)                      CODEC(ZSTD(1)),
    tpot_ms                     Nullable(Float64)                      CODEC(ZSTD(1)),
    pre_dispatch_ms             Float64                                CODEC(ZSTD(1)),
    prompt_tokens               Nullable(UInt64)                       CODEC(ZSTD(1)),
    tokens_generated            UInt64                                 CODEC(ZSTD(1)),
    -- Null on platform capacity, which has no prompt cache of the caller's; null is not 0.
    cache_creation_input_tokens Nullable(UInt64)                       CODEC(ZSTD(1)),
    cache_read_input_tokens     Nullable(UInt64)                       CODEC(ZSTD(1)),
    total_tokens                UInt64                                 CODEC(ZSTD(1)),
    tokens_estimated            Bool                                   CODEC(ZSTD(1)),
    cost_micro_pkr              Int64                                  CODEC(ZSTD(1)),
    is_byok                     UInt8                                  CODEC(ZSTD(1)),
    termination_reason          LowCardinality(String)                 CODEC(ZSTD(1)),
    -- The gateway's own refusal code, or '' for a request that it served.
    refusal                     LowCardinality(String)                 CODEC(ZSTD(1)),
    upstream_error              Nullable(String)                       CODEC(ZSTD(1)),
    upstream_model              LowCardinality(Nullable(String))       CODEC(ZSTD(1)),
    user_agent                  LowCardinality(String)                 CODEC(ZSTD(1)),
    metadata                    Map(LowCardinality(String), String)    CODEC(ZSTD(1)),
    -- What a search looks through, as one text, lower-cased by the same function as the searched words. The fields are
    -- parted by U+0000, which no searched text can hold, so a match never runs from one field into the next.
    search_text                 String MATERIALIZED lowerUTF8(arrayStringConcat(
                                    arrayConcat([request_id], mapKeys(metadata), mapValues(metadata)), '\0'))
                                                                       CODEC(ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(timestamp)
ORDER BY (organization_id, timestamp, request_id)
SETTINGS non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1;

-- When and how much each key was used, a row for each key and day once merged. Until then several: always aggregate.
CREATE TABLE IF NOT EXISTS {database}.key_usage
(
    organization_id UUID                                                   CODEC(ZSTD(1)),
    key_id          UUID                                                   CODEC(ZSTD(1)),
    day             Date                                                   CODEC(Delta, ZSTD(1)),
    last_used_at    SimpleAggregateFunction(max, DateTime64(6, 'UTC'))     CODEC(ZSTD(1)),
    cost_micro_pkr  SimpleAggregateFunction(sum, Int64)                    CODEC(ZSTD(1)),
    requests        SimpleAggregateFunction(sum, UInt64)                   CODEC(ZSTD(1))
)
ENGINE = AggregatingMergeTree
ORDER BY (organization_id, key_id, day)
SETTINGS non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1;

-- The view's own insert is deduplicated with the batch's token, given deduplicate_blocks_in_dependent_materialized_views.
CREATE MATERIALIZED VIEW IF NOT EXISTS {database}.key_usage_from_request_log TO {database}.key_usage AS
SELECT
    log.organization_id AS organization_id,
    assumeNotNull(log.key_id) AS key_id,
    toDate(log.timestamp) AS day,
    max(log.timestamp) AS last_used_at,
    sum(log.cost_micro_pkr) AS cost_micro_pkr,
    count() AS requests
FROM {database}.request_log AS log
WHERE log.key_id IS NOT NULL
GROUP BY organization_id, key_id, day;
