import type { Account } from '@gatehouse/sdk';
import { useRouter } from '@tanstack/react-router';
import { safeReturn } from '../../app/search.ts';
import { signedIn } from '../../app/session.ts';

/** Starts the session in this tab and goes to where the person wanted to be. */
export function useAfterSignIn(returnTo: string | undefined): (account: Account) => void {
  const router = useRouter();
  return (account) => {
    signedIn(account);
    router.history.replace(safeReturn(returnTo));
  };
}
