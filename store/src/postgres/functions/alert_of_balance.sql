-- Trigger: what was deposited has changed, or what is left of it has reached a threshold. Each is told once until a deposit lifts the
-- balance above it again.
CREATE OR REPLACE FUNCTION alert_of_balance() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  thresholds CONSTANT integer[] := '{20,5}';
  remaining CONSTANT bigint := NEW.deposited_micro_pkr - NEW.spent_micro_pkr - NEW.unsettled_micro_pkr;
  -- Of what was deposited.
  passed_percent integer := 100;
BEGIN
  FOR i IN 1..cardinality(thresholds) LOOP
    CONTINUE WHEN NEW.deposited_micro_pkr <= 0 OR remaining > NEW.deposited_micro_pkr / 100 * thresholds[i];
    passed_percent := thresholds[i];
    CONTINUE WHEN passed_percent >= NEW.alerted_percent;
    PERFORM write_alert(
      NEW.organization_id, 'balance.low',
      concat_ws(' ', 'balance', NEW.organization_id, passed_percent, NEW.deposited_micro_pkr),
      jsonb_build_object(
        'percent', passed_percent, 'depositedMicroPkr', NEW.deposited_micro_pkr::text,
        'remainingMicroPkr', remaining::text));
  END LOOP;
  NEW.alerted_percent := passed_percent;
  NEW.next_alert_micro_pkr := (
    SELECT NEW.deposited_micro_pkr / 100 * max(p) FROM unnest(thresholds) AS t (p)
    WHERE p < passed_percent AND NEW.deposited_micro_pkr > 0);
  RETURN NEW;
END
$$;
