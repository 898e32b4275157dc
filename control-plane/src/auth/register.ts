import { auth, badRequest, invalid } from '@gatehouse/contract';
import { withoutSession } from '../http/implement.ts';
import { organizationName } from '../organization/index.ts';
import type { DatabaseFor } from '../scheduling.ts';
import type { ControlPlaneSettings } from '../settings.ts';
import { account } from './account.ts';
import { createAccount } from './create-account.ts';
import { isCommonPassword, type Passwords } from './passwords.ts';
import { countRegistration } from './registrations.ts';
import { requirePasswords } from './rules.ts';

export function register(databaseFor: DatabaseFor, passwords: Passwords, settings: ControlPlaneSettings) {
  return withoutSession(auth.register, async ({ body, sourceIp, network, recorderFor, gone }) => {
    requirePasswords(settings);
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
    if ('issue' in name) throw badRequest(name.issue);
    // Registrations that join one organisation wait for its lock. Only one of them at a time waits in the database.
    const database = databaseFor(`organization ${name.key}`, gone);
    // The permit is released after the hash, so that a request that waits for a lock does not block other sign-ins.
    const passwordHash = await passwords.queued({ sourceIp, email: undefined, gone }, async () => {
      await countRegistration(databaseFor(`network ${network}`, gone), network, settings);
      return passwords.hash(body.password);
    });
    const row = await database.transaction((tx) =>
      createAccount(
        tx,
        { email: body.email, organizationName: name, passwordHash, googleSubject: null, recorderFor },
        settings,
      ),
    );
    return { body: account(row) };
  });
}
