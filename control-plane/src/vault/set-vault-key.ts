import { badRequest, type OrganizationId, Secret, unavailable, vault } from '@gatehouse/contract';
import {
  type Database,
  type KeyRing,
  MAX_WRAPS,
  type MasterKey,
  type Queryable,
  sealRecord,
  type Transaction,
} from '@gatehouse/store';
import type { Logger } from 'pino';
import { withSession } from '../http/implement.ts';
import * as queries from './queries.ts';
import { keyHint, providerIssue } from './rules.ts';
import { vaultKeyFields } from './vault-key-fields.ts';

export interface VaultDependencies {
  readonly database: Database;
  readonly keyRing: KeyRing;
  readonly log: Logger;
}

/** The gateway reads the record for every request, so after the commit every node uses the new key. */
export function setVaultKey(dependencies: VaultDependencies) {
  const { database } = dependencies;
  return withSession(vault.setVaultKey, async ({ body, record, requestId }, session) => {
    const { organizationId } = session;
    const { provider } = body;
    const providerKey = new Secret(body.api_key);
    const issue = providerIssue(provider, await database.many(queries.listProviders));
    if (issue !== undefined) throw badRequest(issue);
    // Loading a master key can take long, so it is done before anything is locked.
    await currentKey(database, dependencies, requestId);

    const row = await database.transaction(async (tx) => {
      await tx.run(queries.shareCurrentKey);
      const masterKey = await currentKey(tx, dependencies, requestId);
      const next = await tx.one(queries.nextVersion);
      if (!next) throw new Error('nextval returned no row');
      const { version } = next;
      const sealed = sealRecord(masterKey, { organizationId, provider, version }, providerKey.reveal());
      const stored = await tx.one(queries.upsertKey, {
        organizationId,
        provider,
        version,
        sealedKey: sealed.sealedKey,
        wrappedKey: sealed.wrappedKey,
        masterKeyId: sealed.masterKeyId,
        keyHint: keyHint(providerKey),
      });
      if (!stored) throw new Error('an upsert of one vault key returned no row');
      await countWrap(tx, dependencies, organizationId, masterKey, requestId);
      await record(tx, 'vault_key.set', provider);
      return stored;
    });
    return { body: vaultKeyFields(row) };
  });
}

async function currentKey(
  database: Queryable,
  { keyRing, log }: VaultDependencies,
  requestId: string,
): Promise<MasterKey> {
  const current = await database.one(queries.findCurrentKey);
  const masterKey = current && (await keyRing.find(current.id));
  if (masterKey) return masterKey;
  log.error(
    { event: 'vault.master_key_missing', request_id: requestId, master_key_id: current?.id },
    'the current master key of the vault is not available to this process',
  );
  throw unavailable('The vault cannot be used right now.');
}

// Beyond this many, random nonces under one key could collide. A new master key resets the count.
async function countWrap(
  tx: Transaction,
  { log }: VaultDependencies,
  organizationId: OrganizationId,
  masterKey: MasterKey,
  requestId: string,
): Promise<void> {
  const counted = await tx.one(queries.countWraps, {
    organizationIds: [organizationId],
    masterKeyId: masterKey.id,
  });
  if ((counted?.wraps ?? 0n) <= MAX_WRAPS) return;
  log.error(
    {
      event: 'vault.wrap_limit_reached',
      request_id: requestId,
      organization_id: organizationId,
      master_key_id: masterKey.id,
    },
    'an organisation has reached the wrap limit of its vault key: run gatehouse vault rotate',
  );
  throw unavailable('The vault cannot take another key until its operator has rotated the master key.');
}
