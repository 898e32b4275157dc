-- The vault: members' own keys for the providers, each sealed under a key of its own, which is sealed under a master
-- key that is kept outside of this database. store/src/vault says how.

-- The master keys that records may be under, each with a known text sealed under it, by which a wrong one is told.
-- There is one; there are two while a rotation is under way, and the newer one is the current.
CREATE TABLE vault_master_keys (
  -- Derived from the key in one direction only.
  id text PRIMARY KEY CHECK (id ~ '^[0-9a-f]{32}$'),
  canary bytea NOT NULL,
  is_current boolean NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE UNIQUE INDEX vault_master_keys_one_current ON vault_master_keys (is_current) WHERE is_current;

-- What a record's parts are bound to besides its organisation and provider. No number is given out twice, so that no
-- older record can be put back in part.
CREATE SEQUENCE vault_versions AS bigint;

CREATE TABLE vault_keys (
  organization_id uuid NOT NULL REFERENCES organizations (id),
  provider text NOT NULL REFERENCES providers (name),
  version bigint NOT NULL CHECK (version > 0),
  -- The provider's key, sealed under the record's data key.
  sealed_key bytea NOT NULL,
  -- The data key, sealed under the organisation's key, which is derived from the master key. The reference keeps a
  -- master key listed for as long as anything is under it.
  wrapped_key bytea NOT NULL,
  master_key_id text NOT NULL REFERENCES vault_master_keys (id),
  -- The last four characters; null where the key is too short to show any.
  key_hint text CHECK (length(key_hint) = 4),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (organization_id, provider)
);

CREATE INDEX vault_keys_by_master_key ON vault_keys (master_key_id, organization_id, provider);

-- How often an organisation's key has sealed something. Nonces are random, so there is a number of uses beyond which
-- two could be the same.
CREATE TABLE vault_wraps (
  organization_id uuid NOT NULL REFERENCES organizations (id),
  master_key_id text NOT NULL,
  wraps bigint NOT NULL CHECK (wraps > 0),
  PRIMARY KEY (organization_id, master_key_id)
);

-- The service names the first master key. To make another one the current, and to forget one, is the operator's.
GRANT SELECT, INSERT ON vault_master_keys TO gatehouse_service;
GRANT USAGE ON SEQUENCE vault_versions TO gatehouse_service;
GRANT SELECT, INSERT, UPDATE, DELETE ON vault_keys TO gatehouse_service;
GRANT SELECT, INSERT, UPDATE ON vault_wraps TO gatehouse_service;

-- Admission of a request that goes out with a key from the vault: what it can cost is the platform's fee. It binds the
-- key's credit as any cost does. The organisation's balance it does not bind, since it takes no capacity of the
-- platform's; the fee is set aside there all the same, because there it will be charged. In all else it is
-- admit_request.
CREATE FUNCTION admit_byok_request(
  in_request_id uuid,
  in_key_id uuid,
  in_amount_micro_pkr bigint,
  in_hold_ms bigint,
  -- admitted, revoked, expired, key_credit_exhausted or id_is_closed
  OUT verdict text,
  -- What the key could still have held, where that was too little; null otherwise.
  OUT available_micro_pkr bigint
) LANGUAGE plpgsql AS $$
DECLARE
  the_key api_keys%ROWTYPE;
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);

  PERFORM FROM settlement_horizon WHERE in_request_id >= opened_at AND in_request_id < closed_before;
  IF FOUND THEN
    verdict := 'id_is_closed';
    RETURN;
  END IF;

  SELECT * INTO the_key FROM api_keys WHERE id = in_key_id FOR NO KEY UPDATE;
  IF NOT FOUND OR the_key.revoked_at IS NOT NULL THEN
    verdict := 'revoked';
    RETURN;
  END IF;
  IF the_key.expires_at <= clock_timestamp() THEN
    verdict := 'expired';
    RETURN;
  END IF;

  available_micro_pkr :=
    the_key.credit_limit_micro_pkr - the_key.spent_micro_pkr - the_key.held_micro_pkr;
  IF in_amount_micro_pkr > available_micro_pkr
    OR the_key.spent_micro_pkr >= the_key.credit_limit_micro_pkr
  THEN
    verdict := 'key_credit_exhausted';
    RETURN;
  END IF;
  available_micro_pkr := NULL;

  UPDATE balances SET held_micro_pkr = held_micro_pkr + in_amount_micro_pkr
  WHERE organization_id = the_key.organization_id;
  UPDATE api_keys SET held_micro_pkr = held_micro_pkr + in_amount_micro_pkr WHERE id = in_key_id;
  INSERT INTO holds (request_id, key_id, organization_id, amount_micro_pkr, deadline)
  VALUES (in_request_id, in_key_id, the_key.organization_id, in_amount_micro_pkr,
          clock_timestamp() + in_hold_ms * interval '1 millisecond');
  verdict := 'admitted';
END
$$;
