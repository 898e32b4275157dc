-- As the gateways of the version before call it: without the labels of requests. They know no spend limits, so one that refuses is
-- told as the credit of the key. A step of the next version drops it.
CREATE OR REPLACE FUNCTION admit_batch(
  in_finished_ids uuid[],
  in_finished_organization_ids uuid[],
  in_costs_micro_pkr bigint[],
  in_request_ids uuid[],
  in_organization_ids uuid[],
  in_key_ids uuid[],
  in_least_micro_pkr bigint[],
  in_most_micro_pkr bigint[],
  in_are_byok boolean[],
  in_hold_ms bigint[],
  in_catalogue_versions bigint[],
  in_vault_revisions bigint[],
  in_facts_revisions bigint[],
  in_lock_timeout_ms integer
) RETURNS TABLE (
  decision text,
  granted_micro_pkr bigint,
  account text,
  limit_micro_pkr bigint,
  spent_micro_pkr bigint,
  held_micro_pkr bigint
) LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY
    SELECT CASE d.decision WHEN 'spend_limit_reached' THEN 'key_credit_exhausted' ELSE d.decision END,
           d.granted_micro_pkr, CASE d.account WHEN 'spend_limit' THEN 'key' ELSE d.account END,
           d.limit_micro_pkr, d.spent_micro_pkr, d.held_micro_pkr
    FROM admit(
      in_finished_ids, in_finished_organization_ids, in_costs_micro_pkr, in_request_ids, in_organization_ids, in_key_ids,
      in_least_micro_pkr, in_most_micro_pkr, in_are_byok, in_hold_ms, '{}', in_catalogue_versions, in_vault_revisions,
      in_facts_revisions, in_lock_timeout_ms) AS d;
END
$$;
