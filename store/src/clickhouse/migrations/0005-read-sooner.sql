-- What nearly every query reads, in a form that takes a third of the time to read. T64 packs sorted times about as well as
-- Delta and ZSTD did.
ALTER TABLE {database}.request_log MODIFY COLUMN timestamp DateTime64(6, 'UTC') CODEC(T64, LZ4);
-- Half the time to read for twice the room, which is a twentieth of the table.
ALTER TABLE {database}.request_log MODIFY COLUMN metadata Map(LowCardinality(String), String) CODEC(LZ4);
-- The name by which coding agents' sessions are recorded, and the one that the dashboard groups by. Alone it is read in a
-- tenth of the time of all metadata.
ALTER TABLE {database}.request_log ADD COLUMN IF NOT EXISTS
    session_id String MATERIALIZED metadata['session-id'] CODEC(ZSTD(1));
-- For rows that were there before, in the background; until then it is computed from the metadata. The codecs come with merges.
ALTER TABLE {database}.request_log MATERIALIZE COLUMN session_id SETTINGS mutations_sync = 0;
