-- Where an organisation is told of its money and its keys, and what is still to be delivered. What causes an alert changes a row whose
-- trigger writes it, so cause and alert commit together, whichever version of the gateway runs.
-- works with step 18

CREATE TABLE alert_channels (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  organization_id uuid NOT NULL REFERENCES organizations (id),
  kind text NOT NULL CHECK (kind IN ('webhook', 'email')),
  -- A URL or an address.
  destination text NOT NULL,
  -- The secret that signs what goes to a webhook, sealed as a key of the vault is.
  version bigint CHECK (version > 0),
  sealed_key bytea,
  wrapped_key bytea,
  master_key_id text REFERENCES vault_master_keys (id),
  created_by uuid REFERENCES users (id) ON DELETE SET NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  CHECK ((kind = 'webhook') = (num_nulls(version, sealed_key, wrapped_key, master_key_id) = 0)),
  CHECK (num_nulls(version, sealed_key, wrapped_key, master_key_id) IN (0, 4))
);
CREATE INDEX alert_channels_by_organization ON alert_channels (organization_id, created_at DESC, id);
CREATE INDEX alert_channels_by_master_key ON alert_channels (master_key_id, organization_id, id);

-- An alert on its way to a channel, and a week longer.
CREATE TABLE alert_deliveries (
  -- Made of the cause and the channel (functions/write_alert.sql): what causes an alert again writes no other.
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  channel_id uuid NOT NULL REFERENCES alert_channels (id) ON DELETE CASCADE,
  organization_id uuid NOT NULL REFERENCES organizations (id),
  type text NOT NULL,
  data jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'delivered', 'failed')),
  attempts integer NOT NULL DEFAULT 0,
  -- When the next attempt may begin; during an attempt, when it is given up for lost.
  due_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  last_error text
);
CREATE INDEX alert_deliveries_due ON alert_deliveries (organization_id, due_at, id) WHERE status = 'pending';
CREATE INDEX alert_deliveries_waiting ON alert_deliveries (channel_id) WHERE status = 'pending';
CREATE INDEX alert_deliveries_by_organization ON alert_deliveries (organization_id, created_at DESC, id);
CREATE INDEX alert_deliveries_by_channel ON alert_deliveries (channel_id, created_at);
CREATE INDEX alert_deliveries_by_end ON alert_deliveries (created_at) WHERE status <> 'pending';

-- How much was spent when the next threshold of its limit is reached; null: all are told.
ALTER TABLE spend_windows ADD COLUMN next_alert_micro_pkr bigint;
-- The highest threshold that was told, in per cent.
ALTER TABLE spend_windows ADD COLUMN alerted_percent smallint NOT NULL DEFAULT 0;
-- When a request was first refused for the limit, as it is now.
ALTER TABLE spend_windows ADD COLUMN refused_at timestamptz;
UPDATE spend_windows SET next_alert_micro_pkr = 0;

-- What is left when the next threshold is reached; null: all are told.
ALTER TABLE balances ADD COLUMN next_alert_micro_pkr bigint;
-- The lowest threshold that was told, in per cent of the deposits; 100: none.
ALTER TABLE balances ADD COLUMN alerted_percent smallint NOT NULL DEFAULT 100;
UPDATE balances SET next_alert_micro_pkr = deposited_micro_pkr / 5 WHERE deposited_micro_pkr > 0;

-- When the next alert of the key's expiry is due.
ALTER TABLE api_keys ADD COLUMN expiry_alert_at timestamptz;
UPDATE api_keys SET expiry_alert_at = CASE
  WHEN expires_at - interval '168 hours' > clock_timestamp() THEN expires_at - interval '168 hours'
  WHEN expires_at - interval '24 hours' > clock_timestamp() THEN expires_at - interval '24 hours'
END
WHERE expires_at > clock_timestamp() AND revoked_at IS NULL;
CREATE INDEX api_keys_by_expiry_alert ON api_keys (expiry_alert_at) WHERE expiry_alert_at IS NOT NULL;

CREATE FUNCTION alert_of_spend() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$;
CREATE FUNCTION alert_of_balance() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$;
CREATE FUNCTION plan_expiry_alert() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$;

CREATE TRIGGER spend_windows_alert BEFORE UPDATE ON spend_windows FOR EACH ROW
  WHEN (NEW.spent_micro_pkr >= NEW.next_alert_micro_pkr OR (NEW.refused_at IS NOT NULL AND OLD.refused_at IS NULL))
  EXECUTE FUNCTION alert_of_spend();
CREATE TRIGGER balances_alert BEFORE UPDATE ON balances FOR EACH ROW
  WHEN (NEW.deposited_micro_pkr <> OLD.deposited_micro_pkr
        OR NEW.deposited_micro_pkr - NEW.spent_micro_pkr - NEW.unsettled_micro_pkr <= NEW.next_alert_micro_pkr)
  EXECUTE FUNCTION alert_of_balance();
CREATE TRIGGER api_keys_expiry_alert BEFORE INSERT OR UPDATE OF expires_at ON api_keys FOR EACH ROW
  EXECUTE FUNCTION plan_expiry_alert();
