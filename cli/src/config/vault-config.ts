import { type DatabaseConfig, readDatabaseConfig } from './config.ts';
import { requireNone } from './config-error.ts';
import { type MasterKeySources, masterKeyIssues, masterKeySettings } from './master-key-settings.ts';
import { settingValue } from './setting.ts';

/** The settings that commands on the vault need. */
export type VaultConfig = DatabaseConfig & MasterKeySources;

/** Reads the settings of the database and of the master keys. Throws ConfigError. */
export function readVaultConfig(environment: Readonly<Record<string, string | undefined>>): VaultConfig {
  const config = {
    ...readDatabaseConfig(environment),
    masterKey: settingValue(masterKeySettings.masterKey, environment),
    masterKeyFile: settingValue(masterKeySettings.masterKeyFile, environment),
    masterKeyCommand: settingValue(masterKeySettings.masterKeyCommand, environment),
    newMasterKey: settingValue(masterKeySettings.newMasterKey, environment),
    newMasterKeyFile: settingValue(masterKeySettings.newMasterKeyFile, environment),
    newMasterKeyCommand: settingValue(masterKeySettings.newMasterKeyCommand, environment),
  };
  requireNone(masterKeyIssues(config, config.databaseUrl !== undefined));
  return config;
}
