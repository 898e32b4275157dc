-- Folds the oldest closed week into sums per key, and drops its partition in the same transaction, so that no row is
-- counted twice. Does nothing when no week is left, or while another node folds. Called with its owner's rights; it takes
-- no argument, and a lock that is not free within a second is left for the next call.
CREATE OR REPLACE FUNCTION fold_settlements(
  -- The partition; null when there was nothing to do.
  OUT folded text,
  OUT requests bigint,
  OUT spent_micro_pkr numeric
) LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT SET lock_timeout = '1s' AS $$
DECLARE
  horizon settlement_horizon%ROWTYPE;
  source text;
BEGIN
  IF NOT pg_try_advisory_xact_lock(7215534104) THEN RETURN; END IF;
  SELECT * INTO horizon FROM settlement_horizon;
  SELECT c.relname INTO folded
  FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
  WHERE i.inhparent = 'settlements'::regclass AND c.relname ~ '^settlements_\d{8}$'
    AND settlement_bound(to_date(right(c.relname, 8), 'YYYYMMDD')::timestamp AT TIME ZONE 'UTC' + interval '7 days')
        <= horizon.closed_before
  ORDER BY c.relname LIMIT 1;
  IF FOUND THEN
    -- Nothing settles into a closed week. An insert by hand commits before this lock or fails after the drop.
    EXECUTE format('LOCK TABLE %I IN SHARE MODE', folded);
    source := format('SELECT * FROM %I', folded);
  ELSE
    -- Rows of weeks that had no partition when they were settled.
    PERFORM FROM settlements_other
    WHERE request_id >= horizon.opened_at AND request_id < horizon.closed_before LIMIT 1;
    IF NOT FOUND THEN RETURN; END IF;
    folded := 'settlements_other';
    source := format('DELETE FROM settlements_other WHERE request_id >= %L AND request_id < %L RETURNING *',
                     horizon.opened_at, horizon.closed_before);
  END IF;

  EXECUTE format($query$
    WITH source AS (%s), total AS (
      INSERT INTO settlement_totals AS t (key_id, organization_id, spent_micro_pkr, requests)
      SELECT key_id, organization_id, sum(cost_micro_pkr), count(*) FROM source
      GROUP BY key_id, organization_id ORDER BY key_id, organization_id
      ON CONFLICT (key_id, organization_id) DO UPDATE
        SET spent_micro_pkr = t.spent_micro_pkr + excluded.spent_micro_pkr,
            requests = t.requests + excluded.requests
    )
    SELECT count(*), coalesce(sum(cost_micro_pkr), 0) FROM source
  $query$, source) INTO requests, spent_micro_pkr;

  IF folded <> 'settlements_other' THEN
    -- Last, so that settling waits for the drop only and not for the sums.
    PERFORM lock_settlements();
    EXECUTE format('DROP TABLE %I', folded);
  END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION fold_settlements FROM PUBLIC;
GRANT EXECUTE ON FUNCTION fold_settlements TO gatehouse_service;
