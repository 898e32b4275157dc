import { conflict, forbidden } from '@gatehouse/contract';
import type { Transaction } from '@gatehouse/store';
import type { RecorderFor } from '../http/recorder.ts';
import {
  createOrganization,
  deposit,
  findOrganizationByName,
  type OrganizationName,
} from '../organization/index.ts';
import type { ControlPlaneSettings } from '../settings.ts';
import * as queries from './queries.ts';
import { reasonNotToJoin } from './rules.ts';

export interface NewAccount {
  readonly email: string;
  /** The organisation that it creates or joins. */
  readonly organizationName: OrganizationName;
  readonly passwordHash: string | null;
  readonly googleSubject: string | null;
  readonly recorderFor: RecorderFor<'member.joined' | 'budget.deposited'>;
}

/**
 * Creates the account, with its organisation or its membership in one, and records it.
 * @throws ApiError 403 when it may not join, 409 when its address is taken
 */
export async function createAccount(
  tx: Transaction,
  { email, organizationName, passwordHash, googleSubject, recorderFor }: NewAccount,
  settings: Pick<ControlPlaneSettings, 'joinPolicy' | 'signupCreditMicroPkr'>,
): Promise<queries.AccountRow> {
  const organization = await joinOrCreate(tx, organizationName, email, settings);
  const role = organization.isNew ? 'owner' : 'member';
  const user = await tx.one(queries.insertUser, {
    organizationId: organization.id,
    email,
    passwordHash,
    role,
    googleSubject,
  });
  if (!user) throw conflict('An account with this e-mail address exists already.');
  const record = recorderFor({ organizationId: organization.id, actorUserId: user.id });
  await record(tx, 'member.joined', email);
  if (organization.isNew && settings.signupCreditMicroPkr > 0n) {
    await deposit(
      tx,
      {
        organizationId: organization.id,
        amountMicroPkr: settings.signupCreditMicroPkr,
        note: 'sign-up credit',
      },
      recorderFor,
    );
  }
  return {
    userId: user.id,
    email,
    role,
    joinedAt: user.createdAt,
    organizationId: organization.id,
    organizationName: organization.name,
  };
}

async function joinOrCreate(
  tx: Transaction,
  name: OrganizationName,
  email: string,
  settings: Pick<ControlPlaneSettings, 'joinPolicy' | 'signupCreditMicroPkr'>,
) {
  // A rename can free the name between the two statements. Then the next round creates it.
  for (;;) {
    const created = await createOrganization(tx, name);
    if (created !== undefined) return { id: created, name: name.name, isNew: true };
    const existing = await tx.one(findOrganizationByName, { nameKey: name.key });
    if (!existing) continue;
    const reason = reasonNotToJoin(settings.joinPolicy, email, existing.ownerEmail);
    if (reason !== undefined) throw forbidden(reason);
    return { id: existing.id, name: existing.name, isNew: false };
  }
}
