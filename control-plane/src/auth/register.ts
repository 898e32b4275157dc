import { auth, badRequest, invalid } from '@gatehouse/contract';
import type { Database } from '@gatehouse/store';
import { withoutSession } from '../http/implement.ts';
import { organizationName } from '../organization/index.ts';
import type { ControlPlaneSettings } from '../settings.ts';
import { account } from './account.ts';
import { createAccount } from './create-account.ts';
import { isCommonPassword, type Passwords } from './passwords.ts';
import { countRegistration } from './registrations.ts';

export function register(database: Database, passwords: Passwords, settings: ControlPlaneSettings) {
  return withoutSession(auth.register, async ({ body, sourceIp, network }) => {
    if (await isCommonPassword(body.password)) {
      throw invalid([
        {
          loc: ['body', 'password'],
          msg: 'Is among the commonest passwords; choose another.',
          type: 'common_password',
        },
      ]);
    }
    const name = organizationName(body.organization_name);
    if ('fault' in name) throw badRequest(name.fault);
    return passwords.inLine(async () => {
      await countRegistration(database, network, settings);
      const passwordHash = await passwords.hash(body.password);
      const row = await database.transaction((tx) =>
        createAccount(
          tx,
          { email: body.email, organizationName: name, passwordHash, googleSubject: null, sourceIp },
          settings,
        ),
      );
      return { body: account(row) };
    });
  });
}
