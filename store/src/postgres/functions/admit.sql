-- Lowers the holds of finished requests to what they cost, and then admits others, in their order: each is judged
-- (`judge_admission`) after those before it took theirs. The requests may be of any organisations. One function, so one round
-- trip and one commit. A single request is a batch of one.
--
-- Locks are taken in the order that settling and operators keep: holds by request, keys by id, balances by organisation. A
-- revocation and a change of a key's limit write the key's row, so the row that is judged is the newest. Expiry is judged by this
-- server's clock, never by a gateway's. A refusal changes nothing, except that the first for a spend limit in a window writes an
-- alert (alert_of_spend.sql). A finished request whose hold is gone was settled, or released at its deadline, and changes nothing.
--
-- A gateway may have presumed what it knew of the catalogue, the vault and the key. It passes the version of each, and the
-- decision is `stale` where one has changed: the request is then judged by what is read for it. Null was not presumed.
--
-- The commit does not wait for the disk. A crash of this server loses rows and sums together, and every request is still
-- settled from the journal.
--
-- Rows are always found by their indexes, whatever the planner's statistics say: a plan that was made while a table was empty
-- would read all of it, for every batch, once it is not. They are planned once: a plan for a batch of one is no better, and
-- making it costs more than the batch.
CREATE OR REPLACE FUNCTION admit(
  -- Finished requests, their organisations, and what they cost.
  in_finished_ids uuid[],
  in_finished_organization_ids uuid[],
  in_costs_micro_pkr bigint[],
  -- Requests to judge.
  in_request_ids uuid[],
  in_organization_ids uuid[],
  in_key_ids uuid[],
  in_least_micro_pkr bigint[],
  in_most_micro_pkr bigint[],
  in_are_byok boolean[],
  in_hold_ms bigint[],
  -- The labels of a request, an object of texts; null: none.
  in_metadata jsonb[],
  -- What was presumed.
  in_catalogue_versions bigint[],
  in_vault_revisions bigint[],
  in_facts_revisions bigint[],
  -- How long to wait for a locked row; as the session does unless given.
  in_lock_timeout_ms integer
) RETURNS TABLE (
  -- `stale`, or as `judge_admission` and `judge_spend_limits` say, with the figures of that account: key, organization or spend_limit.
  decision text,
  granted_micro_pkr bigint,
  account text,
  limit_micro_pkr bigint,
  spent_micro_pkr bigint,
  held_micro_pkr bigint,
  -- The windows that an admitted request belongs to, as the text of an array; null: none.
  window_ids text,
  -- The spend limit that does not suffice (describe_spend_limit.sql).
  spend_limit jsonb
) LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
AS $$
DECLARE
  common record;
  judged record;
  limited record;
  now_at timestamptz;
  k integer;
  o integer;
  granted bigint[] := '{}';
  -- Of the finished requests that have a hold, by key, the changes of what is held and of what is final.
  finished_keys uuid[];
  finished_organizations uuid[];
  finished_held bigint[];
  finished_final bigint[];
  -- The same by window. What is held does not include what is final, and is spent instead.
  finished_windows uuid[];
  finished_window_held bigint[];
  finished_window_spent bigint[];
  -- Of each key: what it is judged by, and the changes to write.
  key_ids uuid[];
  key_organizations uuid[];
  key_revisions bigint[];
  key_revoked_at timestamptz[];
  key_expires_at timestamptz[];
  key_limits bigint[];
  key_spent bigint[];
  key_held bigint[];
  key_held_changes bigint[];
  key_final_changes bigint[];
  -- Of each organisation. Its limit is what was deposited.
  organization_ids uuid[];
  vault_revisions bigint[];
  deposited bigint[];
  organization_spent bigint[];
  organization_held bigint[];
  organization_held_changes bigint[];
  organization_final_changes bigint[];
  spend_limit_counts integer[];
  -- Requests that have key and labels in common are under the same limits. `leaders` has the first of them, for each request.
  leaders bigint[] := '{}';
  -- Of each limit of a leader, in the order of the leaders: the limit, its value, the window, and what the window had at first. Of
  -- a limit that refuses nothing, the amount is null.
  match_leaders bigint[] := '{}';
  match_limits uuid[];
  match_values text[];
  match_amounts bigint[];
  match_windows uuid[];
  match_spent bigint[];
  match_held bigint[];
  match_refused boolean[];
  window_of_match integer[] := '{}';
  -- Of each leader: its limits, and the one with the least that is unspent.
  match_first integer[] := '{}';
  match_last integer[] := '{}';
  windows_in_text text[] := '{}';
  least_unspent bigint[] := '{}';
  unspent_match integer[] := '{}';
  -- Of each window: what is free, before and after the requests. Without end where the limit refuses nothing.
  window_list uuid[] := '{}';
  window_free_before bigint[] := '{}';
  window_free bigint[] := '{}';
  without_end CONSTANT bigint := 9223372036854775807;
  -- Those that refuse for the first time.
  refused_windows uuid[] := '{}';
  opened spend_windows;
  unspent bigint;
  -- Of the requests of one leader that follow each other: what was granted so far, and what was free of its limits before.
  run_leader bigint;
  run_granted bigint := 0;
  run_free bigint;
  free_match integer;
  short_match integer;
  w integer;
  m integer;
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  IF in_lock_timeout_ms IS NOT NULL THEN
    PERFORM set_config('lock_timeout', in_lock_timeout_ms::text, true);
  END IF;

  IF cardinality(in_finished_ids) > 0 THEN
    WITH locked AS MATERIALIZED (
      SELECT h.request_id, h.key_id, h.organization_id, h.amount_micro_pkr, h.is_final, h.window_ids, f.cost
      FROM unnest(in_finished_ids, in_finished_organization_ids, in_costs_micro_pkr) AS f (id, organization_id, cost)
      JOIN holds h ON h.request_id = f.id AND h.organization_id = f.organization_id
      ORDER BY h.request_id FOR NO KEY UPDATE OF h
    ), changed AS (
      UPDATE holds h SET amount_micro_pkr = l.cost, is_final = true
      FROM locked l
      WHERE h.request_id = l.request_id
      RETURNING l.key_id, l.organization_id, l.window_ids, l.cost - l.amount_micro_pkr AS held,
                l.cost - CASE WHEN l.is_final THEN l.amount_micro_pkr ELSE 0 END AS final
    ), by_window AS (
      SELECT u.id, sum(c.held)::bigint AS held, sum(c.spent)::bigint AS spent
      FROM (SELECT g.window_ids, sum(g.held - g.final) AS held, sum(g.final) AS spent
            FROM changed g WHERE g.window_ids IS NOT NULL GROUP BY g.window_ids) AS c, unnest(c.window_ids) AS u (id)
      GROUP BY u.id
    )
    SELECT array_agg(c.key_id), array_agg(c.organization_id), array_agg(c.held), array_agg(c.final),
           (SELECT array_agg(id) FROM by_window), (SELECT array_agg(b.held) FROM by_window b),
           (SELECT array_agg(spent) FROM by_window)
    INTO finished_keys, finished_organizations, finished_held, finished_final,
         finished_windows, finished_window_held,
         finished_window_spent
    FROM (SELECT key_id, organization_id, sum(held)::bigint AS held, sum(final)::bigint AS final
          FROM changed GROUP BY key_id, organization_id) AS c;
  END IF;

  SELECT array_agg(r.id), array_agg(r.organization_id), array_agg(r.facts_revision), array_agg(r.revoked_at),
         array_agg(r.expires_at), array_agg(r.credit_limit_micro_pkr),
         array_agg(r.spent_micro_pkr + r.unsettled_micro_pkr), array_agg(r.held_micro_pkr - r.unsettled_micro_pkr),
         array_agg(0::bigint), array_agg(0::bigint)
  INTO key_ids, key_organizations, key_revisions, key_revoked_at,
       key_expires_at, key_limits,
       key_spent, key_held,
       key_held_changes, key_final_changes
  FROM (SELECT * FROM api_keys WHERE id = ANY (in_key_ids || finished_keys) ORDER BY id FOR NO KEY UPDATE) AS r;

  SELECT array_agg(b.organization_id), array_agg(coalesce(v.revision, 0)), array_agg(b.deposited_micro_pkr),
         array_agg(b.spent_micro_pkr + b.unsettled_micro_pkr), array_agg(b.held_micro_pkr - b.unsettled_micro_pkr),
         array_agg(0::bigint), array_agg(0::bigint), array_agg(b.spend_limits)
  INTO organization_ids, vault_revisions, deposited,
       organization_spent, organization_held,
       organization_held_changes, organization_final_changes, spend_limit_counts
  FROM (SELECT * FROM balances WHERE organization_id = ANY (key_organizations)
        ORDER BY organization_id FOR NO KEY UPDATE) AS b
  LEFT JOIN vault_revisions v ON v.organization_id = b.organization_id;

  FOR i IN 1..coalesce(cardinality(finished_keys), 0) LOOP
    k := array_position(key_ids, finished_keys[i]);
    o := array_position(organization_ids, finished_organizations[i]);
    key_held_changes[k] := key_held_changes[k] + finished_held[i];
    key_final_changes[k] := key_final_changes[k] + finished_final[i];
    key_spent[k] := key_spent[k] + finished_final[i];
    key_held[k] := key_held[k] + finished_held[i] - finished_final[i];
    organization_held_changes[o] := organization_held_changes[o] + finished_held[i];
    organization_final_changes[o] := organization_final_changes[o] + finished_final[i];
    organization_spent[o] := organization_spent[o] + finished_final[i];
    organization_held[o] := organization_held[o] + finished_held[i] - finished_final[i];
  END LOOP;

  IF cardinality(in_request_ids) > 0 THEN
    SELECT h.opened_at, h.closed_before, c.version INTO common FROM settlement_horizon h, catalogue_version c;
  END IF;
  now_at := clock_timestamp();

  IF finished_windows IS NOT NULL THEN
    UPDATE spend_windows s
    SET held_micro_pkr = s.held_micro_pkr + c.held, spent_micro_pkr = s.spent_micro_pkr + c.spent
    FROM unnest(finished_windows, finished_window_held, finished_window_spent) AS c (id, held, spent)
    WHERE s.id = c.id AND (c.held <> 0 OR c.spent <> 0);
  END IF;

  IF 0 < ANY (spend_limit_counts) THEN
    SELECT coalesce(array_agg(first_value ORDER BY nth), '{}') INTO leaders
    FROM (
      SELECT r.nth, first_value(r.nth) OVER (PARTITION BY r.key_id, r.organization_id, r.metadata ORDER BY r.nth)
      FROM unnest(in_key_ids, in_organization_ids, in_metadata) WITH ORDINALITY AS r (key_id, organization_id, metadata, nth)
      WHERE r.nth <= cardinality(in_request_ids)
    ) AS g;
    SELECT coalesce(array_agg(a.nth), '{}'), array_agg(a.limit_id), array_agg(a.value), array_agg(a.amount),
           array_agg(s.id), array_agg(s.spent_micro_pkr), array_agg(s.held_micro_pkr), array_agg(s.refused_at IS NOT NULL)
    INTO match_leaders, match_limits, match_values, match_amounts,
         match_windows, match_spent, match_held, match_refused
    FROM (
      SELECT r.nth, l.id AS limit_id, CASE l.mode WHEN 'refuse' THEN l.limit_micro_pkr END AS amount,
             CASE WHEN l.scope_kind = 'metadata' AND l.metadata_value IS NULL THEN '=' || (r.metadata ->> l.metadata_name)
                  ELSE '' END AS value
      FROM unnest(in_key_ids, in_organization_ids, in_metadata, leaders)
        WITH ORDINALITY AS r (key_id, organization_id, metadata, leader, nth)
      JOIN api_keys k ON k.id = r.key_id AND k.organization_id = r.organization_id
      JOIN spend_limits l ON l.organization_id = k.organization_id
      WHERE r.nth = r.leader AND CASE l.scope_kind
        WHEN 'organization' THEN true
        WHEN 'project' THEN l.scope_id = k.project_id
        WHEN 'key' THEN l.scope_id = k.id
        WHEN 'member' THEN l.scope_id = k.created_by
        ELSE r.metadata ->> l.metadata_name = coalesce(l.metadata_value, r.metadata ->> l.metadata_name)
      END
      ORDER BY r.nth
    ) AS a
    LEFT JOIN LATERAL (
      SELECT o.id, o.spent_micro_pkr, o.held_micro_pkr, o.refused_at FROM spend_windows o
      WHERE o.limit_id = a.limit_id AND o.value = a.value AND o.started_at <= now_at AND o.ends_at > now_at
      ORDER BY o.started_at DESC LIMIT 1
    ) AS s ON true;
    FOR n IN 1..cardinality(match_leaders) LOOP
      IF match_windows[n] IS NULL THEN
        opened := open_spend_window(match_limits[n], match_values[n], now_at);
        match_windows[n] := opened.id;
        match_spent[n] := opened.spent_micro_pkr;
        match_held[n] := opened.held_micro_pkr;
        match_refused[n] := opened.refused_at IS NOT NULL;
      END IF;
      w := array_position(window_list, match_windows[n]);
      IF w IS NULL THEN
        w := cardinality(window_list) + 1;
        window_list[w] := match_windows[n];
        window_free[w] := coalesce(match_amounts[n] - match_spent[n] - match_held[n], without_end);
      END IF;
      window_of_match[n] := w;
      m := match_leaders[n];
      unspent := coalesce(match_amounts[n] - match_spent[n], without_end);
      IF match_first[m] IS NULL THEN match_first[m] := n; END IF;
      match_last[m] := n;
      IF unspent < coalesce(least_unspent[m], without_end) OR least_unspent[m] IS NULL THEN
        least_unspent[m] := unspent;
        unspent_match[m] := n;
      END IF;
    END LOOP;
    window_free_before := window_free;
  END IF;

  FOR i IN 1..cardinality(in_request_ids) LOOP
    k := array_position(key_ids, in_key_ids[i]);
    -- Of another organisation: it does not exist for this one.
    IF key_organizations[k] <> in_organization_ids[i] THEN k := NULL; END IF;
    o := array_position(organization_ids, in_organization_ids[i]);
    IF k IS NOT NULL AND o IS NULL THEN
      RAISE EXCEPTION 'organization % has no balance', in_organization_ids[i];
    END IF;
    decision := NULL;
    window_ids := NULL;
    spend_limit := NULL;
    short_match := NULL;
    IF in_catalogue_versions[i] <> common.version OR in_vault_revisions[i] <> vault_revisions[o]
       OR in_facts_revisions[i] <> key_revisions[k] THEN
      decision := 'stale';
      granted_micro_pkr := NULL;
      account := NULL;
    ELSE
      judged := judge_admission(
        in_least_micro_pkr[i], in_most_micro_pkr[i], in_are_byok[i],
        in_request_ids[i] >= common.opened_at AND in_request_ids[i] < common.closed_before, now_at,
        CASE WHEN k IS NULL THEN '-infinity' ELSE key_revoked_at[k] END, key_expires_at[k],
        key_limits[k], key_spent[k], key_held[k], deposited[o], organization_spent[o], organization_held[o]);
      decision := judged.decision;
      granted_micro_pkr := judged.granted_micro_pkr;
      account := judged.account;
    END IF;
    m := leaders[i];
    IF m <> coalesce(run_leader, 0) THEN
      IF run_granted > 0 THEN
        FOR n IN match_first[run_leader]..match_last[run_leader] LOOP
          w := window_of_match[n];
          window_free[w] := window_free[w] - run_granted;
        END LOOP;
      END IF;
      run_leader := m;
      run_granted := 0;
      run_free := without_end;
      IF match_first[m] IS NOT NULL THEN
        FOR n IN match_first[m]..match_last[m] LOOP
          IF window_free[window_of_match[n]] < run_free THEN
            run_free := window_free[window_of_match[n]];
            free_match := n;
          END IF;
        END LOOP;
      END IF;
    END IF;
    IF match_first[m] IS NOT NULL AND decision <> 'stale' THEN
      -- Where all that is wanted is free, limits change nothing.
      IF run_free - run_granted < in_most_micro_pkr[i] OR least_unspent[m] <= 0 THEN
        limited := judge_spend_limits(
          decision, granted_micro_pkr, in_least_micro_pkr[i], least_unspent[m], run_free - run_granted);
        IF limited.decision <> decision THEN
          short_match := CASE limited.decision WHEN 'credit_held' THEN free_match ELSE unspent_match[m] END;
          account := 'spend_limit';
          spend_limit := describe_spend_limit(match_limits[short_match], match_windows[short_match]);
          IF limited.decision = 'spend_limit_reached' AND NOT match_refused[short_match] THEN
            refused_windows := refused_windows || match_windows[short_match];
            match_refused[short_match] := true;
          END IF;
        END IF;
        decision := limited.decision;
        granted_micro_pkr := limited.granted_micro_pkr;
      END IF;
    END IF;
    IF decision = 'admitted' THEN
      key_held[k] := key_held[k] + granted_micro_pkr;
      key_held_changes[k] := key_held_changes[k] + granted_micro_pkr;
      organization_held[o] := organization_held[o] + granted_micro_pkr;
      organization_held_changes[o] := organization_held_changes[o] + granted_micro_pkr;
      IF match_first[m] IS NOT NULL THEN
        run_granted := run_granted + granted_micro_pkr;
        IF windows_in_text[m] IS NULL THEN
          windows_in_text[m] := match_windows[match_first[m]:match_last[m]]::text;
        END IF;
        window_ids := windows_in_text[m];
      END IF;
    END IF;
    granted[i] := granted_micro_pkr;
    limit_micro_pkr := CASE account WHEN 'key' THEN key_limits[k] WHEN 'organization' THEN deposited[o]
                       WHEN 'spend_limit' THEN match_amounts[short_match] END;
    spent_micro_pkr := CASE account WHEN 'key' THEN key_spent[k] WHEN 'organization' THEN organization_spent[o]
                       WHEN 'spend_limit' THEN match_spent[short_match] END;
    held_micro_pkr := CASE account WHEN 'key' THEN key_held[k] WHEN 'organization' THEN organization_held[o]
                      WHEN 'spend_limit' THEN match_held[short_match] + (window_free_before[window_of_match[short_match]]
                        - window_free[window_of_match[short_match]]) + run_granted END;
    RETURN NEXT;
  END LOOP;

  UPDATE api_keys r
  SET held_micro_pkr = r.held_micro_pkr + c.held, unsettled_micro_pkr = r.unsettled_micro_pkr + c.final
  FROM unnest(key_ids, key_held_changes, key_final_changes) AS c (id, held, final)
  WHERE r.id = c.id AND (c.held <> 0 OR c.final <> 0);
  UPDATE balances b
  SET held_micro_pkr = b.held_micro_pkr + c.held, unsettled_micro_pkr = b.unsettled_micro_pkr + c.final
  FROM unnest(organization_ids, organization_held_changes, organization_final_changes) AS c (id, held, final)
  WHERE b.organization_id = c.id AND (c.held <> 0 OR c.final <> 0);
  IF cardinality(window_list) > 0 THEN
    IF run_granted > 0 THEN
      FOR n IN match_first[run_leader]..match_last[run_leader] LOOP
        w := window_of_match[n];
        window_free[w] := window_free[w] - run_granted;
      END LOOP;
    END IF;
    UPDATE spend_windows s SET held_micro_pkr = s.held_micro_pkr + (c.before - c.after)
    FROM unnest(window_list, window_free_before, window_free) AS c (id, before, after)
    WHERE s.id = c.id AND c.before <> c.after;
    IF cardinality(refused_windows) > 0 THEN
      UPDATE spend_windows SET refused_at = now_at WHERE id = ANY (refused_windows) AND refused_at IS NULL;
    END IF;
  END IF;
  INSERT INTO holds (request_id, key_id, organization_id, amount_micro_pkr, deadline, window_ids)
  SELECT r.id, r.key_id, r.organization_id, r.amount, now_at + r.ms * interval '1 millisecond',
         match_windows[match_first[r.leader]:match_last[r.leader]]
  FROM unnest(in_request_ids, in_key_ids, in_organization_ids, granted, in_hold_ms, leaders)
    AS r (id, key_id, organization_id, amount, ms, leader)
  WHERE r.amount IS NOT NULL;
END
$$;
