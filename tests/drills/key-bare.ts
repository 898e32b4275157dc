import { randomBytes, randomUUID } from 'node:crypto';
import {
  DEFAULT_KEYS_PER_ORGANIZATION,
  type KeyId,
  type OrganizationId,
  type ProjectId,
  type Secret,
  type UserId,
} from '@gatehouse/contract';
import { keyStatements, recordsFrom } from '@gatehouse/control-plane/testing';
import type { Database, Transaction } from '@gatehouse/store';
import { BUDGET_MICRO_PKR, type Choice, KnownKeys } from './key-choices.ts';
import type { Load } from './key-load.ts';
import { seeded } from './seeded.ts';

/** The owner of the keys. */
export interface Owner {
  readonly organizationId: OrganizationId;
  readonly userId: UserId;
  readonly projectId: ProjectId;
  /** A live session, which is looked up for each change as for a request. */
  readonly accessToken: Secret;
}

/** Sends only the statements of such changes, with the driver alone. Returns the duration of each change, in ms. */
export async function changeKeysBare(database: Database, owner: Owner, load: Load): Promise<number[]> {
  const random = seeded(load.seed);
  const known = new KnownKeys();
  const times: number[] = [];
  let next = 0;
  await Promise.all(
    Array.from({ length: load.clients }, async () => {
      while (next < load.requests) {
        next += 1;
        const choice = known.choose(random);
        const startedAt = performance.now();
        await keyStatements.findSession(database, owner.accessToken);
        const minted = await database.transaction((tx) => change(tx, owner, choice));
        times.push(performance.now() - startedAt);
        if (minted) known.minted(minted);
      }
    }),
  );
  return times;
}

async function change(tx: Transaction, { organizationId, userId, projectId }: Owner, choice: Choice) {
  await keyStatements.lockOrganization(tx, organizationId);
  const note = (action: 'api_key.created' | 'api_key.updated' | 'api_key.revoked', target: string) =>
    recordsFrom('10.0.0.0')({ organizationId, actorUserId: userId })(tx, action, target);
  if (choice.kind === 'mint') {
    const project = await tx.one(keyStatements.findProject, { projectId, organizationId });
    if (!project) throw new Error('the project is gone');
    const row = await keyStatements.insertKey(tx, {
      organizationId,
      projectId: project.id,
      name: 'k',
      keyPrefix: `sk_svc_${randomUUID().slice(0, 8)}`,
      secretHash: randomBytes(32),
      rateLimitRpm: 60,
      expiresAt: null,
      creditLimitMicroPkr: choice.limitMicroPkr,
      allowedModels: null,
      environment: 'production',
      createdBy: null,
      maxKeys: DEFAULT_KEYS_PER_ORGANIZATION,
    });
    await note('api_key.created', row.keyPrefix);
    return { id: row.id, prefix: row.keyPrefix };
  }
  const { prefix } = choice.key;
  const keyId = choice.key.id as KeyId;
  if (choice.kind === 'revoke') {
    if (await tx.one(keyStatements.revokeKey, { keyId, organizationId }))
      await note('api_key.revoked', prefix);
    return undefined;
  }
  const found = await tx.one(keyStatements.findChangeable, { keyId, organizationId });
  const { limitMicroPkr } = choice;
  if (!found || (limitMicroPkr !== null && found.otherLimitsMicroPkr + limitMicroPkr > BUDGET_MICRO_PKR))
    return undefined;
  await tx.one(keyStatements.updateKey, {
    keyId,
    organizationId,
    rateLimitRpm: 60,
    creditLimitMicroPkr: limitMicroPkr,
    expiresAt: null,
  });
  await note('api_key.updated', prefix);
  return undefined;
}
