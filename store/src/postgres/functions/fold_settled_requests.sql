-- Adds settlements that are hours old to the sums of their keys and removes their rows, a batch in each call. A record that comes again is
-- then recognised by its position. Rows without a position stay until their week is folded (fold_settlements). Called
-- with its owner's rights; it takes no argument, so the service cannot fold younger ones. A lock that is not free within a
-- second is left for the next call.
CREATE OR REPLACE FUNCTION fold_settled_requests(
  OUT requests bigint,
  OUT spent_micro_pkr numeric,
  -- Whether there is nothing more to do for now.
  OUT is_done boolean
) LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT SET lock_timeout = '1s' AS $$
DECLARE
  horizon settlement_horizon%ROWTYPE;
  batch_end uuid;
BEGIN
  requests := 0;
  spent_micro_pkr := 0;
  is_done := true;
  IF NOT pg_try_advisory_xact_lock(7215534104) THEN RETURN; END IF;
  SELECT * INTO horizon FROM settlement_horizon;
  IF horizon.folded_until >= horizon.folded_before THEN
    -- Committed before anything is folded by it, and once an hour at most.
    is_done := NOT advance_settlement_fold(date_trunc('hour', clock_timestamp()) - interval '6 hours');
    IF is_done THEN
      -- Ids that old are of closed weeks.
      DELETE FROM journal_positions WHERE (origin, sequence) IN (
        SELECT origin, sequence FROM journal_positions
        WHERE settled_at < clock_timestamp() - interval '100 days' ORDER BY settled_at LIMIT 20000
      );
    END IF;
    RETURN;
  END IF;

  SELECT request_id INTO batch_end FROM settlements
  WHERE request_id >= horizon.folded_until AND request_id < horizon.folded_before
  ORDER BY request_id OFFSET 20000 LIMIT 1;
  batch_end := coalesce(batch_end, horizon.folded_before);
  WITH source AS (
    DELETE FROM settlements
    WHERE request_id >= horizon.folded_until AND request_id < batch_end AND is_positioned
    RETURNING key_id, organization_id, cost_micro_pkr
  ), total AS (
    INSERT INTO settlement_totals AS t (key_id, organization_id, spent_micro_pkr, requests)
    SELECT key_id, organization_id, sum(cost_micro_pkr), count(*) FROM source
    GROUP BY key_id, organization_id ORDER BY key_id, organization_id
    ON CONFLICT (key_id, organization_id) DO UPDATE
      SET spent_micro_pkr = t.spent_micro_pkr + excluded.spent_micro_pkr,
          requests = t.requests + excluded.requests
  )
  SELECT count(*), coalesce(sum(cost_micro_pkr), 0) FROM source INTO requests, spent_micro_pkr;
  UPDATE settlement_horizon SET folded_until = batch_end;
  is_done := false;
END
$$;
REVOKE EXECUTE ON FUNCTION fold_settled_requests FROM PUBLIC;
GRANT EXECUTE ON FUNCTION fold_settled_requests TO gatehouse_service;
