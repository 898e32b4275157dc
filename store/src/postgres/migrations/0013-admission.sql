-- Admission by one rule, and holds that shrink.
--
-- A request may cost between `least` (its output cap at the route's floor) and `most` (its output cap as wanted). It is
-- granted what is free between the two, and holds exactly that. When it has finished, its hold is lowered to what it
-- cost before its caller can send the next one; the hold is then *final*. Settling, later and once, turns a final hold
-- into spend. So of what is held, one part belongs to requests in flight and may come free, and the other is as good
-- as spent; a refusal says which of the two is in the way.

DROP FUNCTION admit_requests;
DROP FUNCTION admit_byok_request;
DROP FUNCTION admit_request;

ALTER TABLE holds
  -- Whether the request has finished and the amount is its cost.
  ADD COLUMN is_final boolean NOT NULL DEFAULT false;
-- What the final holds of the key, or of the organisation, come to: a part of what is held.
ALTER TABLE api_keys
  ADD COLUMN unsettled_micro_pkr bigint NOT NULL DEFAULT 0 CHECK (unsettled_micro_pkr >= 0);
ALTER TABLE balances
  ADD COLUMN unsettled_micro_pkr bigint NOT NULL DEFAULT 0 CHECK (unsettled_micro_pkr >= 0);

-- Lowers the holds of requests of one organisation that have finished, and then judges others of it, in their order,
-- each seeing what those before it took. All of it is one function, so that it costs one round trip and one lock.
--
-- Rows are locked in the order that everybody keeps: holds by request, keys by id, the balance. Whoever revokes a key or
-- changes its limit writes the key's row, so what is judged here is the newest state and not a copy. Expiry is judged by
-- this server's clock at this very moment. A refusal changes nothing. A hold that is gone was settled, or released at its
-- deadline, and nothing is changed for it.
--
-- Nobody waits for the disk here: what a crash of this server loses of it, it loses of rows and sums together; every
-- request is settled all the same, from the journal.
--
-- Rows are looked up one by one by their keys: a join would be planned by what the tables were like some time ago.
CREATE FUNCTION admit_requests(
  in_organization_id uuid,
  -- Requests that have finished, and what they cost.
  in_finished_ids uuid[],
  in_costs_micro_pkr bigint[],
  -- Requests to judge.
  in_request_ids uuid[],
  in_key_ids uuid[],
  in_least_micro_pkr bigint[],
  in_most_micro_pkr bigint[],
  -- Whether the organisation's own provider key is used: the balance then does not bind.
  in_are_byok boolean[],
  in_hold_ms bigint[]
) RETURNS TABLE (
  -- Counted from 1, as they came.
  place integer,
  -- admitted, revoked, expired, id_is_closed, key_credit_exhausted, budget_exhausted or credit_held
  decision text,
  -- What the request holds; null where it was not admitted.
  granted_micro_pkr bigint,
  -- For the last three decisions, the account that does not suffice: key or organization, with its figures. What
  -- final holds come to counts as spent, and not as held.
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
  least_amount bigint;
  granted bigint[] := '{}';
  -- Of the finished requests that have a hold: their keys, and the changes of what is held and of what is final.
  finished_keys uuid[] := '{}';
  finished_held bigint[] := '{}';
  finished_final bigint[] := '{}';
  sorted_keys uuid[];
  -- Of each key: why it may do nothing, its limit, what is spent or final, what requests in flight hold; and the changes.
  key_ids uuid[] := '{}';
  key_refusals text[] := '{}';
  key_limits bigint[] := '{}';
  key_spent bigint[] := '{}';
  key_held bigint[] := '{}';
  held_changes bigint[] := '{}';
  final_changes bigint[] := '{}';
  -- The same of the organisation, whose limit is what was deposited.
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
    key_refusals := array_append(
      key_refusals,
      CASE WHEN the_key.revoked_at IS NOT NULL THEN 'revoked'
           WHEN the_key.expires_at <= clock_timestamp() THEN 'expired' END);
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

  FOR i IN 1..cardinality(in_request_ids) LOOP
    place := i;
    decision := NULL;
    granted_micro_pkr := NULL;
    account := NULL;
    n := array_position(key_ids, in_key_ids[i]);
    least_amount := in_least_micro_pkr[i];
    IF in_request_ids[i] >= horizon.opened_at AND in_request_ids[i] < horizon.closed_before THEN
      decision := 'id_is_closed';
    ELSIF n IS NULL THEN
      decision := 'revoked';
    ELSIF key_refusals[n] IS NOT NULL THEN
      decision := key_refusals[n];
    -- Differences and not sums on the side of what is there: nothing the caller sends can make them overflow. What is
    -- used up stays used up, also for a request that costs nothing.
    ELSIF key_limits[n] - key_spent[n] < least_amount OR key_spent[n] >= key_limits[n] THEN
      decision := 'key_credit_exhausted';
      account := 'key';
    ELSIF NOT in_are_byok[i] AND deposited - organization_spent < least_amount THEN
      decision := 'budget_exhausted';
      account := 'organization';
    ELSIF key_limits[n] - key_spent[n] - key_held[n] < least_amount THEN
      decision := 'credit_held';
      account := 'key';
    ELSIF NOT in_are_byok[i] AND deposited - organization_spent - organization_held < least_amount THEN
      decision := 'credit_held';
      account := 'organization';
    ELSE
      decision := 'admitted';
      -- Of these, null (no limit) is ignored.
      granted_micro_pkr := least(
        in_most_micro_pkr[i],
        key_limits[n] - key_spent[n] - key_held[n],
        CASE WHEN NOT in_are_byok[i] THEN deposited - organization_spent - organization_held END);
      key_held[n] := key_held[n] + granted_micro_pkr;
      held_changes[n] := held_changes[n] + granted_micro_pkr;
      organization_held := organization_held + granted_micro_pkr;
      held_change := held_change + granted_micro_pkr;
    END IF;
    granted := array_append(granted, granted_micro_pkr);
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
