import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { signedInRoute } from '../../app/root-route.tsx';
import { type RequestsSearch, validateRequests } from './requests-search.ts';

export const requestsRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/requests',
  validateSearch: (search: Record<string, unknown>): RequestsSearch => validateRequests(search),
  component: lazyRouteComponent(() => import('./requests-page.tsx'), 'RequestsPage'),
});
