import { createRouter } from '@tanstack/react-router';
import { activityRoute } from '../pages/activity/activity-route.ts';
import { errorsRoute } from '../pages/errors/errors-route.ts';
import { keysRoute } from '../pages/keys/keys-route.ts';
import { membersRoute } from '../pages/members/members-route.ts';
import { modelsRoute } from '../pages/models/models-route.ts';
import { organizationRoute } from '../pages/organization/organization-route.ts';
import { overviewRoute } from '../pages/overview/overview-route.ts';
import { providersRoute } from '../pages/providers/providers-route.ts';
import { requestsRoute } from '../pages/requests/requests-route.ts';
import { sessionsRoute } from '../pages/sessions/sessions-route.ts';
import { usageRoute } from '../pages/usage/usage-route.ts';
import { PageError } from './page-error.tsx';
import { registerRoute, rootRoute, signedInRoute, signInRoute } from './root-route.tsx';
import { parseSearch, stringifySearch } from './search.ts';
import { Splash } from './splash.tsx';

/** Every page. A page is one `createRoute` in its own folder and one line here; its code loads when it is first opened. */
const routeTree = rootRoute.addChildren([
  signInRoute,
  registerRoute,
  signedInRoute.addChildren([
    overviewRoute,
    // One page a line.
    requestsRoute,
    errorsRoute,
    sessionsRoute,
    usageRoute,
    keysRoute,
    modelsRoute,
    providersRoute,
    membersRoute,
    activityRoute,
    organizationRoute,
  ]),
]);

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
