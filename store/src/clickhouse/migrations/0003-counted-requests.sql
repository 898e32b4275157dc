-- How many requests a row stands for: more than one where the gateway refused so many of a key that it counted them. A
-- node that does not know the column writes 1. The sums of hours count rows; the few rows that stand for more are found
-- by the index, and what they add is added (control-plane/src/analytics/figures/telemetry.ts).
ALTER TABLE {database}.request_log ADD COLUMN IF NOT EXISTS
    request_count UInt32 DEFAULT 1 CODEC(T64, ZSTD(1));
ALTER TABLE {database}.request_log ADD INDEX IF NOT EXISTS counted_requests request_count TYPE minmax GRANULARITY 1;
