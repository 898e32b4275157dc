import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { signedInRoute } from '../../app/root-route.tsx';
import { type KeysSearch, validateKeys } from './keys-search.ts';

export const keysRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/keys',
  validateSearch: (search: Record<string, unknown>): KeysSearch => validateKeys(search),
  component: lazyRouteComponent(() => import('./keys-page.tsx'), 'KeysPage'),
});
