-- What the two roles may do with tables and sequences: exactly this. Rights to execute a function stand in its file.
-- The roles belong to the server and exist before this runs (roles.ts).

DO $$
DECLARE
  relation text;
BEGIN
  -- Partitions come and go, and are used through their table only.
  PERFORM lock_settlements();
  FOR relation IN
    SELECT format('%s %s', CASE relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, oid::regclass) FROM pg_class
    WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'S') AND NOT relispartition
    ORDER BY relname
  LOOP
    EXECUTE format('REVOKE ALL ON %s FROM gatehouse_service, gatehouse_retention', relation);
  END LOOP;
  EXECUTE format('GRANT USAGE ON SCHEMA %I TO gatehouse_service, gatehouse_retention', current_schema());
END
$$;

GRANT SELECT ON schema_migrations, schema_files TO gatehouse_service;

-- The activity log: written by append_activity and removed by purge_activity only.
GRANT SELECT ON activity_heads, activity_events, activity_checkpoints TO gatehouse_service;
GRANT SELECT (id, activity_retention_days) ON organizations TO gatehouse_retention;
GRANT SELECT, DELETE ON activity_events TO gatehouse_retention;
GRANT SELECT, INSERT ON activity_checkpoints TO gatehouse_retention;

-- Accounts. Only an operator sets an organisation's retention, and whether a project falls back from its organisation's own keys.
GRANT SELECT, INSERT (name, name_key), UPDATE (name, name_key) ON organizations TO gatehouse_service;
GRANT SELECT, INSERT (id, organization_id, name, created_at), UPDATE (name) ON projects TO gatehouse_service;
GRANT SELECT, INSERT, UPDATE ON users TO gatehouse_service;
GRANT SELECT, INSERT ON user_identities TO gatehouse_service;
GRANT SELECT, INSERT, UPDATE, DELETE
  ON sessions, access_tokens, failed_sign_ins, used_google_credentials TO gatehouse_service;
GRANT SELECT, INSERT, DELETE ON registration_attempts TO gatehouse_service;

-- Keys, the catalogue and running totals.
GRANT SELECT, INSERT, UPDATE ON api_keys, balances, providers, routes TO gatehouse_service;
GRANT SELECT, INSERT, UPDATE, DELETE ON previous_secrets TO gatehouse_service;
GRANT SELECT, INSERT, UPDATE, DELETE ON spend_limits, spend_windows TO gatehouse_service;
GRANT SELECT, INSERT, DELETE, UPDATE (version, sealed_key, wrapped_key, master_key_id) ON alert_channels TO gatehouse_service;
GRANT SELECT, INSERT, UPDATE, DELETE ON alert_deliveries TO gatehouse_service;
GRANT SELECT, INSERT, DELETE ON route_aliases, route_targets, provider_credentials TO gatehouse_service;
GRANT SELECT, UPDATE ON catalogue_version TO gatehouse_service;
GRANT SELECT, INSERT, UPDATE, DELETE ON upstream_states TO gatehouse_service;
GRANT SELECT, INSERT, DELETE ON kept_items TO gatehouse_service;
GRANT SELECT, INSERT, UPDATE, DELETE ON idempotency_keys, holds TO gatehouse_service;

-- Money in and money spent are never changed. Settlements are used through the table; partitions belong to the owner.
GRANT SELECT, INSERT ON deposits, settlements TO gatehouse_service;
GRANT SELECT ON settlement_totals, settlement_horizon TO gatehouse_service;
GRANT SELECT, INSERT, UPDATE ON journal_positions TO gatehouse_service;

-- The vault. The service adds the first master key; an operator changes and removes them.
GRANT SELECT, INSERT ON vault_master_keys TO gatehouse_service;
GRANT USAGE ON SEQUENCE vault_versions TO gatehouse_service;
GRANT SELECT, INSERT, UPDATE, DELETE ON vault_keys TO gatehouse_service;
GRANT SELECT, INSERT, UPDATE ON vault_wraps, vault_revisions TO gatehouse_service;
