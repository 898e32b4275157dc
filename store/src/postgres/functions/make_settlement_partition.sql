-- Makes a week's partition and moves its rows out of the default partition. The caller holds `lock_settlements`.
CREATE OR REPLACE FUNCTION make_settlement_partition(in_week timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  name text := settlement_partition(in_week);
  first_id uuid := settlement_bound(in_week);
  next_id uuid := settlement_bound(in_week + interval '7 days');
BEGIN
  EXECUTE format('CREATE TABLE %I (LIKE settlements INCLUDING ALL)', name);
  LOCK TABLE settlements_other IN ACCESS EXCLUSIVE MODE;
  EXECUTE format(
    'WITH moved AS (DELETE FROM settlements_other WHERE request_id >= %L AND request_id < %L RETURNING *)
     INSERT INTO %I SELECT * FROM moved', first_id, next_id, name);
  EXECUTE format('ALTER TABLE settlements ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
                 name, first_id, next_id);
END
$$;
REVOKE EXECUTE ON FUNCTION make_settlement_partition FROM PUBLIC;
