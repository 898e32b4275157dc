import { Session } from '@gatehouse/sdk';
import type { Context } from '../../terminal/command.ts';
import { CommandError, invalidValue, UsageError } from '../../terminal/errors.ts';
import { print, shown } from '../../terminal/output.ts';
import { readFirstLine, readSecret } from '../../terminal/secret-input.ts';
import { asAccount, clientOf, explained } from './client.ts';
import { readSession, removeSession, writeSession } from './session-file.ts';

const DEFAULT_URL = 'http://localhost:8080';

export interface LoginArguments {
  readonly url: string | undefined;
  readonly email: string | undefined;
  readonly 'password-stdin': string | undefined;
}

export async function signIn(args: LoginArguments, context: Context): Promise<number> {
  const environment = context.environment();
  const url = rootOf(args.url ?? DEFAULT_URL);
  const email = args.email ?? environment['GATEHOUSE_EMAIL'];
  if (!email) throw new UsageError('the account is not named; give --email, or set GATEHOUSE_EMAIL');
  const password =
    args['password-stdin'] !== undefined
      ? await readFirstLine(context.input())
      : environment['GATEHOUSE_PASSWORD'] || (await readSecret(context.input(), 'Password: ', context.err));
  if (password === '') throw new CommandError('no password was given');
  const session = new Session();
  const client = clientOf(url, session, environment);
  const { user, organization } = await explained(url, async () => {
    await client.auth.login({ email, password });
    return client.auth.me();
  });
  const saved = session.save();
  if (!saved) throw new CommandError(`${url} set no session`);
  await writeSession(environment, { url, session: saved });
  print(context, { url, user, organization }, [
    `Signed in at ${url} as ${shown(user.email)}, ${user.role} of ${shown(organization.name)}.`,
  ]);
  return 0;
}

/** The root of a service, without a path. */
function rootOf(text: string): string {
  const url = URL.parse(text);
  const isRoot =
    url &&
    url.pathname === '/' &&
    url.search === '' &&
    url.hash === '' &&
    url.username === '' &&
    url.password === '';
  if (isRoot && /^https?:$/.test(url.protocol)) return url.origin;
  throw invalidValue('--url', text, 'the root of a service, such as https://gatehouse.example.com');
}

export async function signOut(context: Context): Promise<number> {
  const environment = context.environment();
  const stored = await readSession(environment);
  if (!stored) {
    print(context, { signed_out: false }, ['Nobody was signed in.']);
    return 0;
  }
  const session = new Session(stored.session);
  // It is forgotten here whether or not the service hears of it.
  await removeSession(environment);
  await explained(stored.url, () => clientOf(stored.url, session, environment).auth.logout());
  print(context, { signed_out: true, url: stored.url }, [`Signed out of ${stored.url}.`]);
  return 0;
}

export function whoAmI(context: Context): Promise<number> {
  return asAccount(context, async (client, { url }) => {
    const { user, organization } = await client.auth.me();
    print(context, { url, user, organization }, [
      `${shown(user.email)}, ${user.role} of ${shown(organization.name)}, at ${url}`,
    ]);
    return 0;
  });
}
