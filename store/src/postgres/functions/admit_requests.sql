-- As the gateways of the version before call it: requests of one organisation, with nothing presumed. A step of the next
-- version drops it.
CREATE OR REPLACE FUNCTION admit_requests(
  in_organization_id uuid,
  in_finished_ids uuid[],
  in_costs_micro_pkr bigint[],
  in_request_ids uuid[],
  in_key_ids uuid[],
  in_least_micro_pkr bigint[],
  in_most_micro_pkr bigint[],
  in_are_byok boolean[],
  in_hold_ms bigint[]
) RETURNS TABLE (
  place integer,
  decision text,
  granted_micro_pkr bigint,
  account text,
  limit_micro_pkr bigint,
  spent_micro_pkr bigint,
  held_micro_pkr bigint
) LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY
    SELECT d.place::integer, d.decision, d.granted_micro_pkr, d.account, d.limit_micro_pkr, d.spent_micro_pkr, d.held_micro_pkr
    FROM admit_batch(
      in_finished_ids, array_fill(in_organization_id, ARRAY[cardinality(in_finished_ids)]), in_costs_micro_pkr,
      in_request_ids, array_fill(in_organization_id, ARRAY[cardinality(in_request_ids)]), in_key_ids,
      in_least_micro_pkr, in_most_micro_pkr, in_are_byok, in_hold_ms, '{}', '{}', '{}', NULL)
      WITH ORDINALITY AS d (decision, granted_micro_pkr, account, limit_micro_pkr, spent_micro_pkr, held_micro_pkr, place);
END
$$;
