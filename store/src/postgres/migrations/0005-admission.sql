-- Admission: the one place where a request's worst-case cost is set aside, on its key and on its organisation.
--
-- All of it is one function, so that a request costs one round trip and holds the rows for as short as can be.
-- The key's row is locked first and the balance second, here as everywhere that money moves; whoever revokes a
-- key or changes its limit writes that same row, so what is judged here is the newest state and not a copy.
-- Expiry is judged by this server's clock at this very moment, so no gateway's clock matters. A refusal changes
-- nothing.
--
-- The hold need not survive a crash of this server: losing it loses its row and its sums together, and the
-- request is settled all the same. So nobody waits for the disk here.

CREATE FUNCTION admit_request(
  in_request_id uuid,
  in_key_id uuid,
  in_amount_micro_pkr bigint,
  in_hold_ms bigint,
  -- admitted, revoked, expired, key_credit_exhausted or budget_exhausted
  OUT verdict text,
  -- What the key could still have held, where that was too little; null otherwise.
  OUT available_micro_pkr bigint
) LANGUAGE plpgsql AS $$
DECLARE
  the_key api_keys%ROWTYPE;
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);

  SELECT * INTO the_key FROM api_keys WHERE id = in_key_id FOR NO KEY UPDATE;
  IF NOT FOUND OR the_key.revoked_at IS NOT NULL THEN
    verdict := 'revoked';
    RETURN;
  END IF;
  IF the_key.expires_at <= clock_timestamp() THEN
    verdict := 'expired';
    RETURN;
  END IF;

  -- Differences and not sums on the side of what is there: nothing the caller sends can make them overflow.
  available_micro_pkr :=
    the_key.credit_limit_micro_pkr - the_key.spent_micro_pkr - the_key.held_micro_pkr;
  -- What is used up stays used up, also for a request that costs nothing.
  IF in_amount_micro_pkr > available_micro_pkr
    OR the_key.spent_micro_pkr >= the_key.credit_limit_micro_pkr
  THEN
    verdict := 'key_credit_exhausted';
    RETURN;
  END IF;
  available_micro_pkr := NULL;

  UPDATE balances SET held_micro_pkr = held_micro_pkr + in_amount_micro_pkr
  WHERE organization_id = the_key.organization_id
    AND in_amount_micro_pkr <= deposited_micro_pkr - spent_micro_pkr - held_micro_pkr;
  IF NOT FOUND THEN
    verdict := 'budget_exhausted';
    RETURN;
  END IF;

  UPDATE api_keys SET held_micro_pkr = held_micro_pkr + in_amount_micro_pkr WHERE id = in_key_id;
  INSERT INTO holds (request_id, key_id, organization_id, amount_micro_pkr, deadline)
  VALUES (in_request_id, in_key_id, the_key.organization_id, in_amount_micro_pkr,
          clock_timestamp() + in_hold_ms * interval '1 millisecond');
  verdict := 'admitted';
END
$$;
