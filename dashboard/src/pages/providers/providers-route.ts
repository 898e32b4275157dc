import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { signedInRoute } from '../../app/root-route.tsx';

export interface ProvidersSearch {
  /** In the name of the provider or of a model. */
  readonly q?: string | undefined;
}

const MAX_LENGTH = 300;

export const providersRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/providers',
  validateSearch: ({ q }: Record<string, unknown>): ProvidersSearch =>
    typeof q === 'string' && q !== '' && q.length <= MAX_LENGTH ? { q } : {},
  component: lazyRouteComponent(() => import('./providers-page.tsx'), 'ProvidersPage'),
});
