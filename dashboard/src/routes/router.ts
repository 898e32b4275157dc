import { createRouter } from '@tanstack/react-router';
import { PageError } from '../app/page-error.tsx';
import { parseSearch, stringifySearch } from '../app/search.ts';
import { Splash } from '../app/splash.tsx';
import { routeTree } from './route-tree.ts';

export const router = createRouter({
  routeTree,
  parseSearch,
  stringifySearch,
  // Otherwise a parameter that `validateSearch` dropped would still reach the page.
  search: { strict: true },
  // A page is fetched when the pointer rests on its link.
  defaultPreload: 'intent',
  defaultPreloadDelay: 60,
  defaultPendingComponent: Splash,
  defaultPendingMs: 300,
  defaultErrorComponent: PageError,
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
