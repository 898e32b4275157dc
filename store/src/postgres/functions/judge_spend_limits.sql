-- What the spend limits of a request make of a decision of `judge_admission`, by the tightest of those that refuse. A pure function.
CREATE OR REPLACE FUNCTION judge_spend_limits(
  INOUT decision text,
  INOUT granted_micro_pkr bigint,
  in_least_micro_pkr bigint,
  -- The smallest amounts that are unspent, and neither spent nor held, in a window of the request.
  in_unspent_micro_pkr bigint,
  in_free_micro_pkr bigint
) LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  IF decision NOT IN ('admitted', 'credit_held') THEN RETURN; END IF;
  -- As with a key, a limit that is used up admits nothing.
  IF in_unspent_micro_pkr <= 0 OR in_unspent_micro_pkr < in_least_micro_pkr THEN
    decision := 'spend_limit_reached';
    granted_micro_pkr := NULL;
  ELSIF decision = 'admitted' AND in_free_micro_pkr < in_least_micro_pkr THEN
    decision := 'credit_held';
    granted_micro_pkr := NULL;
  ELSE
    -- `least` ignores null, and what is not granted stays null.
    granted_micro_pkr := CASE decision WHEN 'admitted' THEN least(granted_micro_pkr, in_free_micro_pkr) END;
  END IF;
END
$$;
