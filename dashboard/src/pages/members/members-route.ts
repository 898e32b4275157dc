import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { signedInRoute } from '../../app/root-route.tsx';

export const membersRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/members',
  component: lazyRouteComponent(() => import('./members-page.tsx'), 'MembersPage'),
});
