import { sessionState, subscribeSession } from '../session/session-store.ts';
import { router } from './router.ts';

/** Leaves the pages of an account when it is signed out, in this tab or another. */
export function watchSession(): void {
  let before = sessionState().kind;
  subscribeSession(() => {
    const { kind } = sessionState();
    const wasSignedIn = before === 'signed-in' || before === 'expired';
    before = kind;
    // A page that is opened without a session goes to the sign-in by itself, and takes along where to return to.
    if (kind !== 'signed-out' || !wasSignedIn) return;
    const { pathname } = router.state.location;
    if (pathname !== '/sign-in' && pathname !== '/register')
      void router.navigate({ to: '/sign-in', replace: true });
  });
}
