import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { signedInRoute } from '../../app/root-route.tsx';
import { type ErrorsSearch, validateErrors } from './errors-search.ts';

export const errorsRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/errors',
  validateSearch: (search: Record<string, unknown>): ErrorsSearch => validateErrors(search),
  component: lazyRouteComponent(() => import('./errors-page.tsx'), 'ErrorsPage'),
});
