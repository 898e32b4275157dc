import { it } from 'node:test';
import { auth, keys, type OrganizationId, organization } from '@gatehouse/contract';
import { withoutSession, withSession } from './implement.ts';

// The compiler is the test: each of these lines must be an error.
it('compiles no event that the endpoint does not declare', () => {
  withSession(keys.revokeKey, async ({ record }) => {
    // @ts-expect-error: revokeKey declares api_key.revoked alone
    await record(undefined as never, 'api_key.created', 'a key');
    return { body: { message: '' } };
  });
  withSession(organization.listProjects, async ({ record }) => {
    // @ts-expect-error: listProjects declares no event
    await record(undefined as never, 'org.renamed', 'a name');
    return { body: { projects: [] } };
  });
  withoutSession(auth.logout, async ({ recorderFor }) => {
    const record = recorderFor({ organizationId: '' as OrganizationId, actorUserId: null });
    // @ts-expect-error: logout declares user.logout alone
    await record(undefined as never, 'user.login', 'an address');
    return { body: { message: '' } };
  });
});
