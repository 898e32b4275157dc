import { generateGatewayKey } from '@gatehouse/contract';
import type { Database, Transaction } from '@gatehouse/store';
import { createAccount, createPasswords } from './auth/index.ts';
import { findOwnedProject, limitKey, lockOrganization, mintKey, retireKey, Secret } from './keys/index.ts';
import { createProject, deposit, organizationName, showOrganization } from './organization/index.ts';

// An organisation for a newcomer to look at, made as its owner would have made it: account by account, key by key, each
// with its entry in the activity log. Its requests are made elsewhere; what they cost decides on its budget.

export interface DemoPlan {
  readonly name: string;
  readonly owner: { readonly email: string; readonly password: string };
  /** Accounts without a password. */
  readonly teammates: readonly string[];
  /** Besides the one that every organisation begins with. */
  readonly projects: readonly string[];
  readonly keys: readonly DemoKey[];
  readonly sourceIp: string;
}

export interface DemoKey {
  readonly name: string;
  /** By its place, the first one being the organisation's own. */
  readonly project: number;
  readonly environment: 'production' | 'development' | 'testing';
  readonly rateLimitRpm: number;
  /** ISO 8601, both. */
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly allowedModels: readonly string[] | null;
}

export interface DemoOrganization {
  readonly id: string;
  readonly name: string;
  readonly ownerId: string;
  readonly projects: readonly { readonly id: string; readonly name: string }[];
  /** In the order of the plan. */
  readonly keys: readonly {
    readonly id: string;
    readonly keyPrefix: string;
    readonly secret: string;
    readonly projectId: string;
  }[];
}

/** It cannot be made; the message says why. */
export class DemoRefused extends Error {
  override readonly name = 'DemoRefused';
}

/** Makes the organisation whole or not at all. `randomBytes(n)` gives n bytes that nobody can guess. */
export async function createDemoOrganization(
  database: Database,
  plan: DemoPlan,
  randomBytes: (n: number) => Buffer,
): Promise<DemoOrganization> {
  const name = organizationName(plan.name);
  if ('fault' in name) throw new DemoRefused(name.fault);
  const passwordHash = await createPasswords().hash(plan.owner.password);
  const secrets = plan.keys.map(() => new Secret(generateGatewayKey(randomBytes)));
  return database.transaction(async (tx) => {
    const join = (email: string, hash: string | null) =>
      createAccount(
        tx,
        { email, organizationName: name, passwordHash: hash, googleSubject: null, sourceIp: plan.sourceIp },
        { joinPolicy: 'open', signupCreditMicroPkr: 0n },
      );
    const owner = await join(plan.owner.email, passwordHash);
    // The name was taken, and the account would be a member there.
    if (owner.role !== 'owner') throw new DemoRefused(`there is an organisation named ${name.name} already`);
    for (const email of plan.teammates) await join(email, null);
    const id = owner.organization_id;
    const projects = await makeProjects(tx, id, plan.projects);
    const actor = { userId: owner.user_id, sourceIp: plan.sourceIp };
    const keys: DemoOrganization['keys'][number][] = [];
    for (const [place, { project, ...key }] of plan.keys.entries()) {
      const projectId = await findOwnedProject(tx, id, projects[project]?.id ?? '');
      const secret = secrets[place];
      if (projectId === undefined || !secret)
        throw new Error(`the key ${key.name} has no project ${project}`);
      const minted = await mintKey(
        tx,
        { ...key, organizationId: id, projectId, creditLimitMicroPkr: null },
        secret,
        actor,
      );
      keys.push({ ...minted, secret: secret.reveal(), projectId });
    }
    return { id, name: owner.organization_name, ownerId: owner.user_id, projects, keys };
  });
}

async function makeProjects(tx: Transaction, organizationId: string, names: readonly string[]) {
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
  readonly limits: readonly { readonly keyId: string; readonly creditLimitMicroPkr: bigint }[];
  readonly revokedKeyIds: readonly string[];
}

/** Gives the organisation its credit and its keys their limits, and revokes those that are to be. */
export function budgetDemoOrganization(
  database: Database,
  { id: organizationId, ownerId }: Pick<DemoOrganization, 'id' | 'ownerId'>,
  { deposits, limits, revokedKeyIds }: DemoBudget,
  sourceIp: string,
): Promise<void> {
  const actor = { userId: ownerId, sourceIp };
  return database.transaction(async (tx) => {
    await lockOrganization(tx, organizationId);
    for (const one of limits) await limitKey(tx, { ...one, organizationId }, actor);
    for (const keyId of revokedKeyIds) await retireKey(tx, { organizationId, keyId }, actor);
    // Last: what is spent locks a key and then the balance, so that is the order for everybody.
    for (const one of deposits) await deposit(tx, { ...one, organizationId, sourceIp });
  });
}
