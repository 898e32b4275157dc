-- As the gateways of the version before call it: without the windows of requests, which their holds have. A step of the next version
-- drops it.
CREATE OR REPLACE FUNCTION settle_requests(
  in_request_ids uuid[],
  in_organization_ids uuid[],
  in_key_ids uuid[],
  in_costs_micro_pkr bigint[],
  in_are_positioned boolean[],
  in_origins uuid[],
  in_sequences bigint[],
  in_ends bigint[],
  in_settled_origins uuid[],
  in_settled_sequences bigint[],
  in_settled_bytes bigint[]
) RETURNS SETOF uuid LANGUAGE sql AS $$
  SELECT * FROM settle(
    in_request_ids, in_organization_ids, in_key_ids, in_costs_micro_pkr, '{}', in_are_positioned, in_origins, in_sequences,
    in_ends, in_settled_origins, in_settled_sequences, in_settled_bytes)
$$;
