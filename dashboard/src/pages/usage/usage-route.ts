import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { type AnalyticsSearch, validateAnalytics } from '../../app/analytics-search.ts';
import { signedInRoute } from '../../app/root-route.tsx';

export const usageRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/usage',
  validateSearch: (search: Record<string, unknown>): AnalyticsSearch => validateAnalytics(search),
  component: lazyRouteComponent(() => import('./usage-page.tsx'), 'UsagePage'),
});
