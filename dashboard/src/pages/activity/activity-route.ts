import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { signedInRoute } from '../../app/root-route.tsx';
import { type ActivitySearch, validateActivity } from './activity-search.ts';

export const activityRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/activity',
  validateSearch: (search: Record<string, unknown>): ActivitySearch => validateActivity(search),
  component: lazyRouteComponent(() => import('./activity-page.tsx'), 'ActivityPage'),
});
