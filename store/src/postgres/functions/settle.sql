-- Counts the cost of finished requests on their keys and balances and ends their holds. Each request counts once, whatever is
-- repeated: one that is settled already is not counted again, and neither is a hold that is gone. One function, so one round trip:
-- admissions of these keys wait for the rows that it locks, and would wait for its caller too.
--
-- Returns the requests of weeks that the ledger has closed (close_settlements.sql). It is no longer known whether these were counted
-- before, so their holds end and their cost does not count.
--
-- Its windows are those that its record names, or else its hold: the hold may have been lost in a crash of this server, and the record
-- may have been written without an answer of it.
--
-- A request is recognised by its settlement, a row. After some hours the rows become sums (fold_settled_requests.sql). From then on a
-- record of a journal is recognised by its position: the ledger has its segment up to there. Of other requests, those that are left
-- have a hold, because a hold ends with the transaction that counts.
--
-- Locks are taken in one order, which admissions keep (admit.sql): settlements and holds by request, keys, balances. So two
-- processes that settle the same requests wait for each other.
--
-- A settled request is counted for ever, so a crash of the server must not lose the commit. A setting stronger than `on` (a remote
-- flush) stays.
--
-- Rows are always found by their indexes, as in `admit`.
CREATE OR REPLACE FUNCTION settle(
  in_request_ids uuid[],
  in_organization_ids uuid[],
  in_key_ids uuid[],
  in_costs_micro_pkr bigint[],
  -- The windows of spend limits that each belongs to, as the text of an array; null where its record does not say.
  in_window_ids text[],
  -- Whether the position of its record will cover the request from now on.
  in_are_positioned boolean[],
  -- Where in a journal the record of each request is; null for requests that come from none.
  in_origins uuid[],
  in_sequences bigint[],
  in_ends bigint[],
  -- Up to where the ledger has these segments when this has committed.
  in_settled_origins uuid[],
  in_settled_sequences bigint[],
  in_settled_bytes bigint[]
) RETURNS SETOF uuid LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
AS $$
DECLARE
  -- Of closed weeks; old enough to have been folded; and those of them that were counted.
  closed_ids uuid[];
  folded_ids uuid[];
  counted_ids uuid[];
  -- What changes, by key.
  key_ids uuid[];
  organization_ids uuid[];
  spent bigint[];
  released bigint[];
  final bigint[];
  -- The same by window.
  windows uuid[];
  window_spent bigint[];
  window_held bigint[];
BEGIN
  IF current_setting('synchronous_commit') = 'off' THEN
    PERFORM set_config('synchronous_commit', 'on', true);
  END IF;
  -- Keeps weeks from being closed until the commit (lock_settlements.sql). Each statement below sees what was committed before
  -- this lock was granted.
  PERFORM pg_advisory_xact_lock_shared(7215534103);

  SELECT coalesce(array_agg(f.id) FILTER (WHERE f.id < h.closed_before), '{}'),
         coalesce(array_agg(f.id) FILTER (WHERE f.id >= h.closed_before), '{}')
  INTO closed_ids, folded_ids
  FROM unnest(in_request_ids) AS f (id)
  JOIN settlement_horizon h ON f.id >= h.opened_at AND f.id < greatest(h.closed_before, h.folded_before);

  counted_ids := '{}';
  IF cardinality(folded_ids) > 0 AND in_origins IS NULL THEN
    WITH held AS MATERIALIZED (
      SELECT request_id FROM holds WHERE request_id = ANY (folded_ids) ORDER BY request_id FOR UPDATE
    )
    SELECT coalesce(array_agg(f.id), '{}') INTO counted_ids
    FROM unnest(folded_ids) AS f (id)
    WHERE NOT EXISTS (SELECT FROM held WHERE held.request_id = f.id);
  ELSIF cardinality(folded_ids) > 0 THEN
    -- Of two processes that settle the same segment, the second waits here until the first has committed.
    INSERT INTO journal_positions AS p (origin, sequence, settled_bytes)
    SELECT DISTINCT r.origin, r.sequence, 0
    FROM unnest(in_request_ids, in_origins, in_sequences) AS r (id, origin, sequence)
    WHERE r.id = ANY (folded_ids)
    ORDER BY r.origin, r.sequence
    ON CONFLICT (origin, sequence) DO UPDATE SET settled_bytes = p.settled_bytes;
    SELECT coalesce(array_agg(r.id), '{}') INTO counted_ids
    FROM unnest(in_request_ids, in_origins, in_sequences, in_ends) AS r (id, origin, sequence, ends_at)
    JOIN journal_positions p ON p.origin = r.origin AND p.sequence = r.sequence AND p.settled_bytes >= r.ends_at
    WHERE r.id = ANY (folded_ids);
  END IF;

  WITH settled AS (
    INSERT INTO settlements (request_id, organization_id, key_id, cost_micro_pkr, is_positioned)
    SELECT f.request_id, f.organization_id, f.key_id, f.cost, f.is_positioned
    FROM unnest(in_request_ids, in_organization_ids, in_key_ids, in_costs_micro_pkr, in_are_positioned)
      AS f (request_id, organization_id, key_id, cost, is_positioned)
    WHERE f.request_id <> ALL (closed_ids || counted_ids)
    ORDER BY f.request_id
    ON CONFLICT (request_id) DO NOTHING
    RETURNING request_id, key_id, organization_id, cost_micro_pkr AS spent, 0::bigint AS released, 0::bigint AS final
  ), ended AS MATERIALIZED (
    SELECT request_id FROM holds WHERE request_id = ANY (in_request_ids) ORDER BY request_id FOR UPDATE
  ), freed AS (
    DELETE FROM holds h USING ended WHERE h.request_id = ended.request_id
    RETURNING h.request_id, h.key_id, h.organization_id, 0::bigint AS spent, h.amount_micro_pkr AS released,
              CASE WHEN h.is_final THEN h.amount_micro_pkr ELSE 0 END AS final, h.window_ids
  ), by_request AS (
    -- Grouped, because a join without hashing compares each with each.
    SELECT max(r.recorded) AS recorded, max(r.held) AS held, sum(r.spent) AS spent, sum(r.released) AS released, sum(r.final) AS final
    FROM (
      SELECT u.id, u.ids::uuid[] AS recorded, NULL::uuid[] AS held, 0 AS spent, 0 AS released, 0 AS final
      FROM unnest(in_request_ids, in_window_ids) AS u (id, ids) WHERE u.ids IS NOT NULL
      UNION ALL
      SELECT f.request_id, NULL, f.window_ids, 0, f.released, f.final FROM freed f WHERE f.window_ids IS NOT NULL
      UNION ALL
      SELECT s.request_id, NULL, NULL, s.spent, 0, 0 FROM settled s
      WHERE 0 < cardinality(array_remove(in_window_ids, NULL)) OR EXISTS (SELECT FROM freed WHERE window_ids IS NOT NULL)
    ) AS r
    GROUP BY r.id
  ), by_window AS (
    SELECT b.id, sum(b.spent)::bigint AS spent, sum(b.held)::bigint AS held
    FROM (
      SELECT unnest(coalesce(r.recorded, r.held)) AS id, r.spent, 0 AS held FROM by_request r
      UNION ALL
      SELECT unnest(r.held), -r.final, r.final - r.released FROM by_request r
    ) AS b
    GROUP BY b.id
    HAVING sum(b.spent) <> 0 OR sum(b.held) <> 0
  )
  SELECT array_agg(c.key_id), array_agg(c.organization_id), array_agg(c.spent), array_agg(c.released), array_agg(c.final),
         (SELECT array_agg(id) FROM by_window), (SELECT array_agg(w.spent) FROM by_window w), (SELECT array_agg(held) FROM by_window)
  INTO key_ids, organization_ids, spent, released, final,
       windows, window_spent, window_held
  FROM (
    SELECT a.key_id, a.organization_id, sum(a.spent)::bigint AS spent, sum(a.released)::bigint AS released,
           sum(a.final)::bigint AS final
    FROM (
      SELECT s.key_id, s.organization_id, s.spent, s.released, s.final FROM settled s
      UNION ALL
      SELECT f.key_id, f.organization_id, f.spent, f.released, f.final FROM freed f
    ) AS a
    GROUP BY a.key_id, a.organization_id
    HAVING sum(a.spent) > 0 OR sum(a.released) > 0
  ) AS c;

  INSERT INTO journal_positions AS p (origin, sequence, settled_bytes)
  SELECT s.origin, s.sequence, s.settled_bytes
  FROM unnest(in_settled_origins, in_settled_sequences, in_settled_bytes) AS s (origin, sequence, settled_bytes)
  ORDER BY s.origin, s.sequence
  ON CONFLICT (origin, sequence) DO UPDATE
    SET settled_bytes = greatest(p.settled_bytes, excluded.settled_bytes), settled_at = excluded.settled_at;

  IF key_ids IS NOT NULL THEN
    PERFORM change_accounts(key_ids, organization_ids, spent, released, final);
  END IF;
  IF windows IS NOT NULL THEN
    UPDATE spend_windows s
    SET spent_micro_pkr = s.spent_micro_pkr + c.spent, held_micro_pkr = s.held_micro_pkr + c.held
    FROM unnest(windows, window_spent, window_held) AS c (id, spent, held)
    WHERE s.id = c.id;
  END IF;
  RETURN QUERY SELECT unnest(closed_ids);
END
$$;
