-- As admission was before requests of all organisations shared a statement: the baseline of bench/admission-batches.ts.
CREATE FUNCTION admit_organization(
  in_organization_id uuid,
  -- Finished requests and what they cost.
  in_finished_ids uuid[],
  in_costs_micro_pkr bigint[],
  -- Requests to judge.
  in_request_ids uuid[],
  in_key_ids uuid[],
  in_least_micro_pkr bigint[],
  in_most_micro_pkr bigint[],
  in_are_byok boolean[],
  in_hold_ms bigint[]
) RETURNS TABLE (
  -- The request's position in the arrays, from 1.
  place integer,
  decision text,
  granted_micro_pkr bigint,
  -- As `judge_admission` says, with the figures of that account.
  account text,
  limit_micro_pkr bigint,
  spent_micro_pkr bigint,
  held_micro_pkr bigint
) LANGUAGE plpgsql AS $$
DECLARE
  horizon settlement_horizon%ROWTYPE;
  the_hold holds%ROWTYPE;
  the_key api_keys%ROWTYPE;
  the_id uuid;
  the_cost bigint;
  n integer;
  now_at timestamptz;
  judged record;
  granted bigint[] := '{}';
  -- Of the finished requests that have a hold: their keys, and the changes of what is held and of what is final.
  finished_keys uuid[] := '{}';
  finished_held bigint[] := '{}';
  finished_final bigint[] := '{}';
  sorted_keys uuid[];
  -- Of each key: what it is judged by, and the changes to write.
  key_ids uuid[] := '{}';
  key_revoked_at timestamptz[] := '{}';
  key_expires_at timestamptz[] := '{}';
  key_limits bigint[] := '{}';
  key_spent bigint[] := '{}';
  key_held bigint[] := '{}';
  held_changes bigint[] := '{}';
  final_changes bigint[] := '{}';
  -- Of the organisation. Its limit is what was deposited.
  deposited bigint;
  organization_spent bigint;
  organization_held bigint;
  held_change bigint := 0;
  final_change bigint := 0;
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);

  IF cardinality(in_finished_ids) > 0 THEN
    FOR the_id, the_cost IN SELECT f.id, f.cost FROM unnest(in_finished_ids, in_costs_micro_pkr) AS f (id, cost) ORDER BY f.id
    LOOP
      SELECT * INTO the_hold FROM holds h WHERE h.request_id = the_id FOR NO KEY UPDATE;
      CONTINUE WHEN NOT FOUND OR the_hold.organization_id <> in_organization_id;
      UPDATE holds h SET amount_micro_pkr = the_cost, is_final = true WHERE h.request_id = the_id;
      finished_keys := array_append(finished_keys, the_hold.key_id);
      finished_held := array_append(finished_held, the_cost - the_hold.amount_micro_pkr);
      finished_final := array_append(
        finished_final, the_cost - CASE WHEN the_hold.is_final THEN the_hold.amount_micro_pkr ELSE 0 END);
    END LOOP;
  END IF;

  SELECT * INTO horizon FROM settlement_horizon;
  sorted_keys := in_key_ids || finished_keys;
  IF cardinality(sorted_keys) > 1 THEN
    sorted_keys := ARRAY(SELECT DISTINCT k FROM unnest(sorted_keys) AS k ORDER BY k);
  END IF;
  FOREACH the_id IN ARRAY sorted_keys LOOP
    SELECT * INTO the_key FROM api_keys k
    WHERE k.id = the_id AND k.organization_id = in_organization_id FOR NO KEY UPDATE;
    CONTINUE WHEN NOT FOUND;
    key_ids := array_append(key_ids, the_id);
    key_revoked_at := array_append(key_revoked_at, the_key.revoked_at);
    key_expires_at := array_append(key_expires_at, the_key.expires_at);
    key_limits := array_append(key_limits, the_key.credit_limit_micro_pkr);
    key_spent := array_append(key_spent, the_key.spent_micro_pkr + the_key.unsettled_micro_pkr);
    key_held := array_append(key_held, the_key.held_micro_pkr - the_key.unsettled_micro_pkr);
    held_changes := array_append(held_changes, 0::bigint);
    final_changes := array_append(final_changes, 0::bigint);
  END LOOP;
  IF key_ids <> '{}' THEN
    SELECT b.deposited_micro_pkr, b.spent_micro_pkr + b.unsettled_micro_pkr, b.held_micro_pkr - b.unsettled_micro_pkr
    INTO deposited, organization_spent, organization_held
    FROM balances b WHERE b.organization_id = in_organization_id FOR NO KEY UPDATE;
    IF NOT FOUND THEN RAISE EXCEPTION 'organization % has no balance', in_organization_id; END IF;
  END IF;

  FOR i IN 1..cardinality(finished_keys) LOOP
    n := array_position(key_ids, finished_keys[i]);
    held_changes[n] := held_changes[n] + finished_held[i];
    final_changes[n] := final_changes[n] + finished_final[i];
    key_spent[n] := key_spent[n] + finished_final[i];
    key_held[n] := key_held[n] + finished_held[i] - finished_final[i];
    held_change := held_change + finished_held[i];
    final_change := final_change + finished_final[i];
  END LOOP;
  organization_spent := organization_spent + final_change;
  organization_held := organization_held + held_change - final_change;

  now_at := clock_timestamp();
  FOR i IN 1..cardinality(in_request_ids) LOOP
    n := array_position(key_ids, in_key_ids[i]);
    judged := judge_admission(
      in_least_micro_pkr[i], in_most_micro_pkr[i], in_are_byok[i],
      in_request_ids[i] >= horizon.opened_at AND in_request_ids[i] < horizon.closed_before, now_at,
      CASE WHEN n IS NULL THEN '-infinity' ELSE key_revoked_at[n] END, key_expires_at[n],
      key_limits[n], key_spent[n], key_held[n], deposited, organization_spent, organization_held);
    IF judged.decision = 'admitted' THEN
      key_held[n] := key_held[n] + judged.granted_micro_pkr;
      held_changes[n] := held_changes[n] + judged.granted_micro_pkr;
      organization_held := organization_held + judged.granted_micro_pkr;
      held_change := held_change + judged.granted_micro_pkr;
    END IF;
    granted := array_append(granted, judged.granted_micro_pkr);
    place := i;
    decision := judged.decision;
    granted_micro_pkr := judged.granted_micro_pkr;
    account := judged.account;
    limit_micro_pkr :=
      CASE account WHEN 'key' THEN key_limits[n] WHEN 'organization' THEN deposited END;
    spent_micro_pkr :=
      CASE account WHEN 'key' THEN key_spent[n] WHEN 'organization' THEN organization_spent END;
    held_micro_pkr :=
      CASE account WHEN 'key' THEN key_held[n] WHEN 'organization' THEN organization_held END;
    RETURN NEXT;
  END LOOP;

  FOR i IN 1..cardinality(key_ids) LOOP
    CONTINUE WHEN held_changes[i] = 0 AND final_changes[i] = 0;
    UPDATE api_keys k
    SET held_micro_pkr = k.held_micro_pkr + held_changes[i],
        unsettled_micro_pkr = k.unsettled_micro_pkr + final_changes[i]
    WHERE k.id = key_ids[i];
  END LOOP;
  IF held_change <> 0 OR final_change <> 0 THEN
    UPDATE balances b
    SET held_micro_pkr = b.held_micro_pkr + held_change,
        unsettled_micro_pkr = b.unsettled_micro_pkr + final_change
    WHERE b.organization_id = in_organization_id;
  END IF;
  FOR i IN 1..cardinality(granted) LOOP
    CONTINUE WHEN granted[i] IS NULL;
    INSERT INTO holds (request_id, key_id, organization_id, amount_micro_pkr, deadline)
    VALUES (in_request_ids[i], in_key_ids[i], in_organization_id, granted[i],
            clock_timestamp() + in_hold_ms[i] * interval '1 millisecond');
  END LOOP;
END
$$;
