import type { Account } from '@gatehouse/sdk';
import { openChannel } from '../browser/tabs.ts';

/** The state of the session, as far as the page knows. */
export type SessionState =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'signed-in'; readonly account: Account }
  /** The session ended while the page was in use: what was typed stays, and a dialog asks to sign in. */
  | { readonly kind: 'expired'; readonly account: Account }
  | { readonly kind: 'signed-out' };

type Message = { readonly type: 'signed-in'; readonly userId: string } | { readonly type: 'signed-out' };

function isMessage(value: unknown): value is Message {
  if (typeof value !== 'object' || value === null || !('type' in value)) return false;
  return value.type === 'signed-out' || (value.type === 'signed-in' && 'userId' in value);
}

let state: SessionState = { kind: 'unknown' };
let lastAccount: Account | undefined;
const listeners = new Set<() => void>();
const tabs = openChannel('gatehouse.session');

export function sessionState(): SessionState {
  return state;
}

/** The account of the session, and for the moment between a sign-out and the sign-in page the one before. */
export function accountOfPage(): Account | undefined {
  return lastAccount;
}

export function setSession(next: SessionState): void {
  state = next;
  if ('account' in next) lastAccount = next.account;
  for (const listener of listeners) listener();
}

export function subscribeSession(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** No refresh helps any more. What is on the screen stays; a dialog asks to sign in. */
export function sessionEnded(): void {
  if (state.kind === 'signed-in') setSession({ kind: 'expired', account: state.account });
}

/** Tells the other tabs of this browser. */
export function tellTabs(message: Message): void {
  tabs.send(message);
}

/** Calls back for what other tabs did. */
export function onTabMessage(listener: (message: Message) => void): void {
  tabs.receive((message) => {
    if (isMessage(message)) listener(message);
  });
}
