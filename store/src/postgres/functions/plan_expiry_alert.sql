-- Trigger: a key expires at another time, so the alerts of its expiry are due at others. Those whose time is past are not sent.
CREATE OR REPLACE FUNCTION plan_expiry_alert() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    IF NEW.expires_at IS NOT DISTINCT FROM OLD.expires_at THEN RETURN NEW; END IF;
  END IF;
  NEW.expiry_alert_at := next_expiry_alert(NEW.expires_at);
  RETURN NEW;
END
$$;
