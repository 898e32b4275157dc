import {
  DEFAULT_KEYS_PER_ORGANIZATION,
  generateGatewayKey,
  type KeyId,
  type OrganizationId,
  Secret,
  type UserId,
} from '@gatehouse/contract';
import type { Database, Transaction } from '@gatehouse/store';
import { recordsFrom } from './activity/index.ts';
import { createAccount, createPasswords } from './auth/index.ts';
import { findOwnedProject, limitKey, mintKey, retireKey } from './keys/index.ts';
import {
  createProject,
  deposit,
  lockOrganization,
  organizationName,
  showOrganization,
} from './organization/index.ts';

// An organisation with example data, created the way its owner would have created it: account by account, key by key,
// each with its entry in the activity log. Its requests are generated elsewhere; their cost determines its budget.

export interface DemoPlan {
  readonly name: string;
  readonly owner: { readonly email: string; readonly password: string };
  /** Accounts without a password. */
  readonly teammates: readonly string[];
  /** In addition to the organisation's default project. */
  readonly projects: readonly string[];
  readonly keys: readonly DemoKey[];
  readonly sourceIp: string;
}

export interface DemoKey {
  readonly name: string;
  /** Index into the projects; 0 is the default project. */
  readonly project: number;
  readonly environment: 'production' | 'development' | 'testing';
  readonly rateLimitRpm: number;
  /** ISO 8601, as is `expiresAt`. */
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly allowedModels: readonly string[] | null;
}

export interface DemoOrganization {
  readonly id: OrganizationId;
  readonly name: string;
  readonly ownerId: UserId;
  readonly projects: readonly { readonly id: string; readonly name: string }[];
  /** In the plan's order. */
  readonly keys: readonly {
    readonly id: KeyId;
    readonly keyPrefix: string;
    readonly secret: string;
    readonly projectId: string;
  }[];
}

/** The demo organisation cannot be created; the message says why. */
export class DemoError extends Error {
  override readonly name = 'DemoError';
}

/** Creates the organisation in one transaction. `randomBytes(n)` must be cryptographically secure. */
export async function createDemoOrganization(
  database: Database,
  plan: DemoPlan,
  randomBytes: (n: number) => Buffer,
): Promise<DemoOrganization> {
  const name = organizationName(plan.name);
  if ('issue' in name) throw new DemoError(name.issue);
  const passwordHash = await createPasswords().hash(new Secret(plan.owner.password));
  const secrets = plan.keys.map(() => new Secret(generateGatewayKey(randomBytes)));
  const recorderFor = recordsFrom(plan.sourceIp);
  return database.transaction(async (tx) => {
    const join = (email: string, hash: string | null) =>
      createAccount(
        tx,
        { email, organizationName: name, passwordHash: hash, googleSubject: null, recorderFor },
        { joinPolicy: 'open', signupCreditMicroPkr: 0n },
      );
    const owner = await join(plan.owner.email, passwordHash);
    // Owner of nothing: the name is taken, and the account would have joined the existing organisation.
    if (owner.role !== 'owner') throw new DemoError(`an organisation named ${name.name} already exists`);
    for (const email of plan.teammates) await join(email, null);
    const id = owner.organizationId;
    const projects = await createProjects(tx, id, plan.projects);
    const record = recorderFor({ organizationId: id, actorUserId: owner.userId });
    const keys: DemoOrganization['keys'][number][] = [];
    for (const [index, { project, ...key }] of plan.keys.entries()) {
      const projectId = await findOwnedProject(tx, id, projects[project]?.id ?? '');
      const secret = secrets[index];
      if (projectId === undefined || !secret)
        throw new Error(`the key ${key.name} has no project ${project}`);
      const minted = await mintKey(
        tx,
        {
          ...key,
          organizationId: id,
          projectId,
          creditLimitMicroPkr: null,
          createdBy: null,
          maxKeys: DEFAULT_KEYS_PER_ORGANIZATION,
        },
        secret,
        record,
      );
      keys.push({ ...minted, secret: secret.reveal(), projectId });
    }
    return { id, name: owner.organizationName, ownerId: owner.userId, projects, keys };
  });
}

async function createProjects(tx: Transaction, organizationId: OrganizationId, names: readonly string[]) {
  const made = (await showOrganization(tx, organizationId))?.projects.map(({ id, name }) => ({ id, name }));
  const projects = [...(made ?? [])];
  for (const name of names) {
    const project = await createProject(tx, organizationId, name);
    if ('existing' in project) throw new Error(`the plan names two projects ${name}`);
    projects.push(project.created);
  }
  return projects.map(({ id, name }) => ({ id, name }));
}

export interface DemoBudget {
  readonly deposits: readonly { readonly amountMicroPkr: bigint; readonly note: string }[];
  readonly limits: readonly { readonly keyId: KeyId; readonly creditLimitMicroPkr: bigint }[];
  readonly revokedKeyIds: readonly KeyId[];
}

/** Deposits the credit, sets the keys' limits, and revokes keys. */
export function budgetDemoOrganization(
  database: Database,
  { id: organizationId, ownerId }: Pick<DemoOrganization, 'id' | 'ownerId'>,
  { deposits, limits, revokedKeyIds }: DemoBudget,
  sourceIp: string,
): Promise<void> {
  const recorderFor = recordsFrom(sourceIp);
  const record = recorderFor({ organizationId, actorUserId: ownerId });
  return database.transaction(async (tx) => {
    await lockOrganization(tx, organizationId);
    for (const one of limits) await limitKey(tx, { ...one, organizationId }, record);
    for (const keyId of revokedKeyIds) await retireKey(tx, { organizationId, keyId }, record);
    // Deposits last: settlement locks a key and then the balance, and every transaction keeps that order.
    for (const one of deposits) await deposit(tx, { ...one, organizationId }, recorderFor);
  });
}
