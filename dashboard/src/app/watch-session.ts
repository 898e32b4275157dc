import { router } from './router.tsx';
import { sessionState, subscribeSession } from './session-store.ts';

/** Leaves the pages of an account when it is signed out, in this tab or another. */
export function watchSession(): void {
  subscribeSession(() => {
    if (sessionState().kind !== 'signed-out') return;
    const { pathname } = router.state.location;
    if (pathname !== '/sign-in' && pathname !== '/register')
      void router.navigate({ to: '/sign-in', replace: true });
  });
}
