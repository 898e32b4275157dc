-- Adds what was spent to keys and their organisations' balances, and takes off what was released; `final` is how much of that was of
-- finished requests. A key may occur several times. Accounts are locked in one order everywhere: keys by id, then balances by organisation.
-- It comes last in its transaction, because admissions wait for these rows.
--
-- Rows are always found by their indexes, as in `admit`.
CREATE OR REPLACE FUNCTION change_accounts(
  in_key_ids uuid[],
  in_organization_ids uuid[],
  in_spent_micro_pkr bigint[],
  in_released_micro_pkr bigint[],
  in_final_micro_pkr bigint[]
) RETURNS void LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
AS $$
BEGIN
  PERFORM FROM api_keys WHERE id = ANY (in_key_ids) ORDER BY id FOR NO KEY UPDATE;
  UPDATE api_keys r
  SET spent_micro_pkr = r.spent_micro_pkr + c.spent,
      held_micro_pkr = r.held_micro_pkr - c.released,
      unsettled_micro_pkr = r.unsettled_micro_pkr - c.final
  FROM (
    SELECT id, sum(spent)::bigint AS spent, sum(released)::bigint AS released, sum(final)::bigint AS final
    FROM unnest(in_key_ids, in_spent_micro_pkr, in_released_micro_pkr, in_final_micro_pkr) AS u (id, spent, released, final)
    GROUP BY id
  ) AS c
  WHERE r.id = c.id;

  PERFORM FROM balances WHERE organization_id = ANY (in_organization_ids) ORDER BY organization_id FOR NO KEY UPDATE;
  UPDATE balances b
  SET spent_micro_pkr = b.spent_micro_pkr + c.spent,
      held_micro_pkr = b.held_micro_pkr - c.released,
      unsettled_micro_pkr = b.unsettled_micro_pkr - c.final
  FROM (
    SELECT id, sum(spent)::bigint AS spent, sum(released)::bigint AS released, sum(final)::bigint AS final
    FROM unnest(in_organization_ids, in_spent_micro_pkr, in_released_micro_pkr, in_final_micro_pkr)
      AS u (id, spent, released, final)
    GROUP BY id
  ) AS c
  WHERE b.organization_id = c.id;
END
$$;
