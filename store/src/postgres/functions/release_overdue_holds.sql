-- Releases holds that are past their deadline, of requests that are not known to have finished: `in_limit` at most. A final hold stays:
-- its request has finished, and its amount is spent. Skips rows that a settlement or the reaper of another node has locked: the one that
-- deletes a hold releases it. Rows are always found by their indexes, as in `admit`.
CREATE OR REPLACE FUNCTION release_overdue_holds(
  in_limit integer,
  OUT holds bigint,
  OUT amount_micro_pkr bigint
) LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
AS $$
DECLARE
  key_ids uuid[];
  organization_ids uuid[];
  amounts bigint[];
  windows uuid[];
  window_amounts bigint[];
BEGIN
  WITH overdue AS (
    SELECT h.request_id FROM holds h WHERE h.deadline < clock_timestamp() AND NOT h.is_final
    ORDER BY h.deadline LIMIT in_limit FOR UPDATE SKIP LOCKED
  ), released AS (
    DELETE FROM holds h USING overdue WHERE h.request_id = overdue.request_id
    RETURNING h.key_id, h.organization_id, h.amount_micro_pkr, h.window_ids
  ), by_window AS (
    SELECT u.id, sum(r.amount_micro_pkr)::bigint AS amount
    FROM released r, unnest(r.window_ids) AS u (id) WHERE r.window_ids IS NOT NULL
    GROUP BY u.id
  )
  SELECT array_agg(r.key_id), array_agg(r.organization_id), array_agg(r.amount_micro_pkr), count(*),
         coalesce(sum(r.amount_micro_pkr), 0)::bigint,
         (SELECT array_agg(id) FROM by_window), (SELECT array_agg(amount) FROM by_window)
  INTO key_ids, organization_ids, amounts, holds, amount_micro_pkr, windows, window_amounts
  FROM released r;
  IF holds > 0 THEN
    PERFORM change_accounts(key_ids, organization_ids, array_fill(0::bigint, ARRAY[cardinality(key_ids)]), amounts,
                            array_fill(0::bigint, ARRAY[cardinality(key_ids)]));
    UPDATE spend_windows s SET held_micro_pkr = s.held_micro_pkr - c.amount
    FROM unnest(windows, window_amounts) AS c (id, amount)
    WHERE s.id = c.id;
  END IF;
END
$$;
