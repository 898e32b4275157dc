-- The key and the project by which requests are grouped, as texts with a dictionary; '' for none. A group is found in the
-- dictionary instead of in each row's 16 bytes, in a quarter of the time.
ALTER TABLE {database}.request_log ADD COLUMN IF NOT EXISTS
    key_text LowCardinality(String) MATERIALIZED ifNull(toString(key_id), '') CODEC(LZ4);
ALTER TABLE {database}.request_log ADD COLUMN IF NOT EXISTS
    project_text LowCardinality(String) MATERIALIZED ifNull(toString(project_id), '') CODEC(LZ4);
-- What most reports read, in half the time and for little more room. The codecs come with merges.
ALTER TABLE {database}.request_log MODIFY COLUMN organization_id UUID CODEC(LZ4);
ALTER TABLE {database}.request_log MODIFY COLUMN model LowCardinality(String) CODEC(LZ4);
ALTER TABLE {database}.request_log MODIFY COLUMN status UInt16 CODEC(LZ4);
ALTER TABLE {database}.request_log MODIFY COLUMN termination_reason LowCardinality(String) CODEC(LZ4);
ALTER TABLE {database}.request_log MODIFY COLUMN refusal LowCardinality(String) CODEC(LZ4);
ALTER TABLE {database}.request_log MODIFY COLUMN request_count UInt32 DEFAULT 1 CODEC(T64, LZ4);
ALTER TABLE {database}.request_log MODIFY COLUMN
    total_us Int64 MATERIALIZED toInt64(round(total_ms * 1000)) CODEC(T64, LZ4);
ALTER TABLE {database}.request_log MODIFY COLUMN
    ttft_us Nullable(Int64) MATERIALIZED toInt64(round(ttft_ms * 1000)) CODEC(T64, LZ4);
-- For rows that were there before, in the background; until then they are computed from the ids.
ALTER TABLE {database}.request_log MATERIALIZE COLUMN key_text SETTINGS mutations_sync = 0;
ALTER TABLE {database}.request_log MATERIALIZE COLUMN project_text SETTINGS mutations_sync = 0;
