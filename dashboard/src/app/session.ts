import type { Account } from '@gatehouse/sdk';
import { useSyncExternalStore } from 'react';
import { client, isUnauthorized } from '../api/client.ts';
import { readableError, SessionNotKeptError } from '../api/errors.ts';
import { queryClient } from '../api/query-client.ts';
import { refreshDelayMs } from '../session/session-clock.ts';
import { markRefreshed, refreshedAt } from '../session/session-refresh.ts';
import {
  accountOfPage,
  onTabMessage,
  type SessionState,
  sessionState,
  setSession,
  subscribeSession,
  tellTabs,
} from '../session/session-store.ts';
import { toast } from '../ui/toast.tsx';

let isStarted = false;
let timer: ReturnType<typeof setTimeout> | undefined;

export function useSession(): SessionState {
  return useSyncExternalStore(subscribeSession, sessionState);
}

/** The account that is signed in. For components of pages that need a session, which the router renders only with one. */
export function useAccount(): Account {
  const account = useSyncExternalStore(subscribeSession, accountOfPage);
  if (account === undefined) throw new Error('There is no session.');
  return account;
}

/** Asks the service who is signed in, once for each load of the page. Rejects where the service cannot be asked. */
export async function loadSession(): Promise<SessionState> {
  start();
  const known = sessionState();
  if (known.kind !== 'unknown') return known;
  try {
    setSession({ kind: 'signed-in', account: await client.auth.me() });
    schedule();
  } catch (error) {
    if (!isUnauthorized(error)) throw error;
    setSession({ kind: 'signed-out' });
  }
  return sessionState();
}

/**
 * The account of a sign-in, once the browser has sent the new cookies back. It drops them over plain HTTP, except on
 * localhost in most browsers, and where cookies are blocked. Every page would then say that the session has ended.
 */
export async function keptSession(account: Account): Promise<Account> {
  try {
    await client.auth.me();
  } catch (error) {
    // The next page reports any other failure.
    if (isUnauthorized(error)) throw new SessionNotKeptError();
  }
  return account;
}

/** After a sign-in in this tab that `keptSession` has checked. */
export function signedIn(account: Account): void {
  const before = sessionState();
  const isReturn = before.kind === 'expired' && before.account.user.user_id === account.user.user_id;
  // Nothing of one account may be seen by the next one of this browser.
  if (!isReturn) queryClient.clear();
  markRefreshed();
  setSession({ kind: 'signed-in', account });
  tellTabs({ type: 'signed-in', userId: account.user.user_id });
  if (isReturn) void queryClient.invalidateQueries();
  schedule();
}

/** Ends the session in all tabs, or says why it could not. */
export async function signOut(): Promise<void> {
  try {
    await client.auth.logout();
  } catch (error) {
    // Without an answer the session may still be open, and the page must not claim otherwise.
    if (!isUnauthorized(error))
      return toast(`You are still signed in. ${readableError(error).sentence}`, 'bad');
  }
  leave();
  tellTabs({ type: 'signed-out' });
}

/** The organisation was renamed: the header and the account menu show it. */
export function organizationRenamed(name: string): void {
  const session = sessionState();
  if (session.kind === 'signed-in')
    setSession({
      ...session,
      account: { ...session.account, organization: { ...session.account.organization, name } },
    });
}

function leave(): void {
  clearTimeout(timer);
  queryClient.clear();
  setSession({ kind: 'signed-out' });
}

function start(): void {
  if (isStarted) return;
  isStarted = true;
  onTabMessage((message) => {
    const session = sessionState();
    if (message.type === 'signed-out') {
      if (session.kind === 'signed-in' || session.kind === 'expired') leave();
      return;
    }
    const isSame = 'account' in session && session.account.user.user_id === message.userId;
    if (session.kind === 'expired' && isSame) {
      setSession({ kind: 'signed-in', account: session.account });
      void queryClient.invalidateQueries();
      schedule();
    } else if (!isSame && session.kind !== 'unknown') {
      // Another account is signed in now: start again as it.
      location.reload();
    }
  });
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') schedule();
  });
}

/** Renews the access cookie before it expires, while the page is open. */
function schedule(): void {
  clearTimeout(timer);
  if (sessionState().kind !== 'signed-in') return;
  timer = setTimeout(() => void renew(), refreshDelayMs(refreshedAt(), Date.now(), Math.random()));
}

async function renew(): Promise<void> {
  try {
    // Another tab may have renewed it while this one waited.
    if (refreshDelayMs(refreshedAt(), Date.now(), 0) === 0) await client.refreshSession();
  } catch (error) {
    // The service is unreachable. The next call says so; this tries again later.
    if (!isUnauthorized(error)) timer = setTimeout(() => void renew(), 60_000);
    return;
  }
  schedule();
}
