import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { signedInRoute } from '../../app/root-route.tsx';
import { type SessionsSearch, validateSessions } from './sessions-search.ts';

export const sessionsRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/sessions',
  validateSearch: (search: Record<string, unknown>): SessionsSearch => validateSessions(search),
  component: lazyRouteComponent(() => import('./sessions-page.tsx'), 'SessionsPage'),
});
