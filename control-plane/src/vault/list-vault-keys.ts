import { vault } from '@gatehouse/contract';
import type { Database } from '@gatehouse/store';
import { withSession } from '../http/implement.ts';
import * as queries from './queries.ts';
import { vaultKeyFields } from './vault-key-fields.ts';

/** Lists records without opening them, so also those that cannot be read. */
export function listVaultKeys(database: Database) {
  return withSession(vault.listVaultKeys, async (_call, { organizationId }) => {
    const rows = await database.many(queries.listKeys, { organizationId });
    return { body: { keys: rows.map(vaultKeyFields) } };
  });
}
