import { createFetch } from '@gatehouse/http/outgoing';
import { type Client, createClient, GatehouseConnectionError, GatehouseError, Session } from '@gatehouse/sdk';
import { proxyOfEnvironment } from '../../config/proxy-settings.ts';
import type { Context, Environment } from '../../terminal/command.ts';
import { CommandError } from '../../terminal/errors.ts';
import { readSession, type StoredSession, writeSession } from './session-file.ts';

/** A client of the service at this root, by the proxies of the environment. */
export function clientOf(url: string, session: Session, environment: Environment): Client {
  const send = createFetch(proxyOfEnvironment(environment));
  return createClient({
    baseUrl: `${url}/api`,
    session,
    fetch: (address, init) => send(String(address), init),
  });
}

/** Does the work as the account that is signed in, and keeps a session that was renewed meanwhile. */
export async function asAccount<T>(
  { environment }: Pick<Context, 'environment'>,
  work: (client: Client, stored: StoredSession) => Promise<T>,
): Promise<T> {
  const stored = await readSession(environment());
  if (!stored) throw new CommandError('nobody is signed in; sign in with gatehouse account login');
  const session = new Session(stored.session);
  try {
    return await explained(stored.url, () => work(clientOf(stored.url, session, environment()), stored));
  } finally {
    const now = session.save();
    if (now && JSON.stringify(now) !== JSON.stringify(stored.session))
      await writeSession(environment(), { ...stored, session: now });
  }
}

/** Turns the errors of the API into those that a person at a terminal reads. */
export async function explained<T>(url: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof GatehouseConnectionError)
      throw new CommandError(`${url} does not answer (${error.message})`);
    if (!(error instanceof GatehouseError)) throw error;
    if (error.status === 401 && error.call !== 'login')
      throw new CommandError(`the session at ${url} has ended; sign in with gatehouse account login`);
    throw new CommandError(error.hint === undefined ? error.message : `${error.message} (${error.hint})`);
  }
}
