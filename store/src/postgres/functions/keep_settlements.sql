-- Makes the partitions of the coming weeks and closes the weeks older than 90 days. The service calls it with its owner's
-- rights; it takes no argument, so the service cannot close other weeks. A lock that is not free within a second is left
-- for the next call, because settling queues behind this one.
CREATE OR REPLACE FUNCTION keep_settlements(
  OUT made integer,
  OUT has_closed boolean
) LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT SET lock_timeout = '1s' AS $$
DECLARE
  week timestamptz;
BEGIN
  made := 0;
  FOR week IN
    SELECT settlement_week(clock_timestamp()) + n * interval '7 days' FROM generate_series(-1, 5) AS n
  LOOP
    CONTINUE WHEN to_regclass(settlement_partition(week)) IS NOT NULL
      OR EXISTS (SELECT FROM settlement_horizon WHERE settlement_bound(week) < closed_before);
    PERFORM lock_settlements();
    -- Another node may have made it meanwhile.
    CONTINUE WHEN to_regclass(settlement_partition(week)) IS NOT NULL;
    PERFORM make_settlement_partition(week);
    made := made + 1;
  END LOOP;
  has_closed := close_settlements(clock_timestamp() - interval '90 days');
END
$$;
REVOKE EXECUTE ON FUNCTION keep_settlements FROM PUBLIC;
GRANT EXECUTE ON FUNCTION keep_settlements TO gatehouse_service;
