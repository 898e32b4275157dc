-- Lowers the holds of finished requests to what they cost, and then admits others, in their order: each is judged
-- (`judge_admission`) after those before it took theirs. The requests may be of any organisations. One function, so one round
-- trip and one commit. A single request is a batch of one.
--
-- Locks are taken in the order that settling and operators keep: holds by request, keys by id, balances by organisation. A
-- revocation and a change of a limit write the key's row, so the row that is judged is the newest. Expiry is judged by this
-- server's clock, never by a gateway's. A refusal changes nothing. A finished request whose hold is gone was settled, or
-- released at its deadline, and changes nothing.
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
CREATE OR REPLACE FUNCTION admit_batch(
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
  -- What was presumed.
  in_catalogue_versions bigint[],
  in_vault_revisions bigint[],
  in_facts_revisions bigint[],
  -- How long to wait for a locked row; as the session does unless given.
  in_lock_timeout_ms integer
) RETURNS TABLE (
  -- `stale`, or as `judge_admission` says, with the figures of that account.
  decision text,
  granted_micro_pkr bigint,
  account text,
  limit_micro_pkr bigint,
  spent_micro_pkr bigint,
  held_micro_pkr bigint
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
  now_at timestamptz;
  k integer;
  o integer;
  granted bigint[] := '{}';
  -- Of the finished requests that have a hold, by key, the changes of what is held and of what is final.
  finished_keys uuid[];
  finished_organizations uuid[];
  finished_held bigint[];
  finished_final bigint[];
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
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  IF in_lock_timeout_ms IS NOT NULL THEN
    PERFORM set_config('lock_timeout', in_lock_timeout_ms::text, true);
  END IF;

  IF cardinality(in_finished_ids) > 0 THEN
    WITH locked AS MATERIALIZED (
      SELECT h.request_id, h.key_id, h.organization_id, h.amount_micro_pkr, h.is_final, f.cost
      FROM unnest(in_finished_ids, in_finished_organization_ids, in_costs_micro_pkr) AS f (id, organization_id, cost)
      JOIN holds h ON h.request_id = f.id AND h.organization_id = f.organization_id
      ORDER BY h.request_id FOR NO KEY UPDATE OF h
    ), changed AS (
      UPDATE holds h SET amount_micro_pkr = l.cost, is_final = true
      FROM locked l
      WHERE h.request_id = l.request_id
      RETURNING l.key_id, l.organization_id, l.cost - l.amount_micro_pkr AS held,
                l.cost - CASE WHEN l.is_final THEN l.amount_micro_pkr ELSE 0 END AS final
    )
    SELECT array_agg(c.key_id), array_agg(c.organization_id), array_agg(c.held), array_agg(c.final)
    INTO finished_keys, finished_organizations, finished_held, finished_final
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
         array_agg(0::bigint), array_agg(0::bigint)
  INTO organization_ids, vault_revisions, deposited,
       organization_spent, organization_held,
       organization_held_changes, organization_final_changes
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
  FOR i IN 1..cardinality(in_request_ids) LOOP
    k := array_position(key_ids, in_key_ids[i]);
    -- Of another organisation: it does not exist for this one.
    IF key_organizations[k] <> in_organization_ids[i] THEN k := NULL; END IF;
    o := array_position(organization_ids, in_organization_ids[i]);
    IF k IS NOT NULL AND o IS NULL THEN
      RAISE EXCEPTION 'organization % has no balance', in_organization_ids[i];
    END IF;
    decision := NULL;
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
    IF decision = 'admitted' THEN
      key_held[k] := key_held[k] + granted_micro_pkr;
      key_held_changes[k] := key_held_changes[k] + granted_micro_pkr;
      organization_held[o] := organization_held[o] + granted_micro_pkr;
      organization_held_changes[o] := organization_held_changes[o] + granted_micro_pkr;
    END IF;
    granted[i] := granted_micro_pkr;
    limit_micro_pkr := CASE account WHEN 'key' THEN key_limits[k] WHEN 'organization' THEN deposited[o] END;
    spent_micro_pkr := CASE account WHEN 'key' THEN key_spent[k] WHEN 'organization' THEN organization_spent[o] END;
    held_micro_pkr := CASE account WHEN 'key' THEN key_held[k] WHEN 'organization' THEN organization_held[o] END;
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
  INSERT INTO holds (request_id, key_id, organization_id, amount_micro_pkr, deadline)
  SELECT r.id, r.key_id, r.organization_id, r.amount, now_at + r.ms * interval '1 millisecond'
  FROM unnest(in_request_ids, in_key_ids, in_organization_ids, granted, in_hold_ms)
    AS r (id, key_id, organization_id, amount, ms)
  WHERE r.amount IS NOT NULL;
END
$$;
