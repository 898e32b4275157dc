-- A deposit can be taken back by a counter-entry below 0. The entries themselves stay as they were written.
ALTER TABLE deposits DROP CONSTRAINT deposits_amount_micro_pkr_check;
ALTER TABLE deposits ADD CONSTRAINT deposits_amount_is_not_zero CHECK (amount_micro_pkr <> 0);

-- Only the operator takes money back; the service, which adds deposits for new organisations, cannot.
CREATE FUNCTION refuse_withdrawal_by_service() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_user = 'gatehouse_service' THEN
    RAISE EXCEPTION 'the service may not take deposits back' USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN NEW;
END
$$;
CREATE TRIGGER deposits_are_taken_back_by_the_owner BEFORE INSERT ON deposits
  FOR EACH ROW WHEN (NEW.amount_micro_pkr < 0) EXECUTE FUNCTION refuse_withdrawal_by_service();

-- Registrations that were tried, by the network they came from (a /24, or a /48 in IPv6). Kept for an hour.
CREATE TABLE registration_attempts (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  network text NOT NULL,
  attempted_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE INDEX registration_attempts_by_network ON registration_attempts (network, attempted_at);
CREATE INDEX registration_attempts_by_time ON registration_attempts (attempted_at);

GRANT SELECT, INSERT, DELETE ON registration_attempts TO gatehouse_service;
