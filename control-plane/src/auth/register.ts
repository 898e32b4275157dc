import { auth, badRequest, conflict, forbidden, invalid } from '@gatehouse/contract';
import type { Database, Transaction } from '@gatehouse/store';
import { record } from '../activity/index.ts';
import { withoutSession } from '../http/implement.ts';
import {
  createOrganization,
  deposit,
  findOrganizationByName,
  type OrganizationName,
  organizationName,
} from '../organization/index.ts';
import type { ControlPlaneSettings } from '../settings.ts';
import { account } from './account.ts';
import { isCommonPassword, type Passwords } from './passwords.ts';
import * as queries from './queries.ts';
import { refusalToJoin } from './rules.ts';

export function register(database: Database, passwords: Passwords, settings: ControlPlaneSettings) {
  return withoutSession(auth.register, async ({ body, sourceIp }) => {
    const name = organizationName(body.organization_name);
    if ('fault' in name) throw badRequest(name.fault);
    if (await isCommonPassword(body.password)) {
      throw invalid([
        {
          loc: ['body', 'password'],
          msg: 'Is among the commonest passwords; choose another.',
          type: 'common_password',
        },
      ]);
    }
    const passwordHash = await passwords.hash(body.password);

    const row = await database.transaction(async (tx) => {
      const organization = await joinOrCreate(tx, name, body.email, settings);
      const user = await tx.one(queries.insertUser, [
        organization.id,
        body.email,
        passwordHash,
        organization.isNew ? 'owner' : 'member',
      ]);
      if (!user) throw conflict('An account with this e-mail address exists already.');
      await record(tx, {
        organizationId: organization.id,
        actorUserId: user.id,
        action: 'member.joined',
        target: body.email,
        sourceIp,
      });
      if (organization.isNew && settings.signupCreditMicroPkr > 0n) {
        await deposit(tx, {
          organizationId: organization.id,
          amountMicroPkr: settings.signupCreditMicroPkr,
          note: 'sign-up credit',
          sourceIp,
        });
      }
      return {
        user_id: user.id,
        email: body.email,
        role: organization.isNew ? ('owner' as const) : ('member' as const),
        joined_at: user.created_at,
        organization_id: organization.id,
        organization_name: organization.name,
      };
    });
    return { body: account(row) };
  });
}

async function joinOrCreate(
  tx: Transaction,
  name: OrganizationName,
  email: string,
  settings: ControlPlaneSettings,
) {
  // The name can be freed by a rename between the two statements; then it is ours to create after all.
  for (;;) {
    const created = await createOrganization(tx, name);
    if (created !== undefined) return { id: created, name: name.name, isNew: true };
    const existing = await tx.one(findOrganizationByName, [name.key]);
    if (!existing) continue;
    const refusal = refusalToJoin(settings.joinPolicy, email, existing.owner_email);
    if (refusal !== undefined) throw forbidden(refusal);
    return { id: existing.id, name: existing.name, isNew: false };
  }
}
