-- Trigger: only the operator takes deposits back. The service adds deposits for new organisations and nothing else.
CREATE OR REPLACE FUNCTION refuse_withdrawal_by_service() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_user = 'gatehouse_service' THEN
    RAISE EXCEPTION 'the service may not take deposits back' USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN NEW;
END
$$;
