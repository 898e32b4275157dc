-- The rules of admission by key and balance, and the only place that has them: may this request run, and how much may it hold? A pure
-- function of its arguments; `admit` reads them under its locks and writes what follows from the decision.
--
-- `spent` includes what finished requests cost, settled or not. `held` is what requests in flight hold. Everything that
-- is compared is a difference on the side of the account, so no amount that a caller sends can overflow.
CREATE OR REPLACE FUNCTION judge_admission(
  -- The request may hold any amount between the two.
  in_least_micro_pkr bigint,
  in_most_micro_pkr bigint,
  -- Whether it goes out with the organisation's own provider key. The balance does not bind such a request.
  in_is_byok boolean,
  -- Whether the ledger has closed the week of the request's id, so that it could not be settled.
  in_id_is_closed boolean,
  in_now timestamptz,
  -- The key. One that does not exist, or belongs to another organisation, counts as revoked.
  in_key_revoked_at timestamptz,
  in_key_expires_at timestamptz,
  in_key_limit_micro_pkr bigint,
  in_key_spent_micro_pkr bigint,
  in_key_held_micro_pkr bigint,
  in_deposited_micro_pkr bigint,
  in_organization_spent_micro_pkr bigint,
  in_organization_held_micro_pkr bigint,
  -- admitted, revoked, expired, id_is_closed, key_credit_exhausted, budget_exhausted or credit_held
  OUT decision text,
  -- What the request holds; null unless it is admitted.
  OUT granted_micro_pkr bigint,
  -- The account whose credit does not suffice, key or organization; null for the other decisions.
  OUT account text
) LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  -- Null where there is no limit, or where it does not bind. A comparison with null refuses nothing.
  key_unspent bigint := in_key_limit_micro_pkr - in_key_spent_micro_pkr;
  key_free bigint := key_unspent - in_key_held_micro_pkr;
  organization_unspent bigint :=
    CASE WHEN NOT in_is_byok THEN in_deposited_micro_pkr - in_organization_spent_micro_pkr END;
  organization_free bigint := organization_unspent - in_organization_held_micro_pkr;
BEGIN
  IF in_id_is_closed THEN
    decision := 'id_is_closed';
  ELSIF in_key_revoked_at IS NOT NULL THEN
    decision := 'revoked';
  ELSIF in_key_expires_at <= in_now THEN
    decision := 'expired';
  -- A key that is used up admits nothing, not even a request that costs nothing.
  ELSIF key_unspent < in_least_micro_pkr OR in_key_spent_micro_pkr >= in_key_limit_micro_pkr THEN
    decision := 'key_credit_exhausted';
    account := 'key';
  ELSIF organization_unspent < in_least_micro_pkr THEN
    decision := 'budget_exhausted';
    account := 'organization';
  ELSIF key_free < in_least_micro_pkr THEN
    decision := 'credit_held';
    account := 'key';
  ELSIF organization_free < in_least_micro_pkr THEN
    decision := 'credit_held';
    account := 'organization';
  ELSE
    decision := 'admitted';
    -- `least` ignores null.
    granted_micro_pkr := least(in_most_micro_pkr, key_free, organization_free);
  END IF;
END
$$;
