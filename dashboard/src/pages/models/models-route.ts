import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { signedInRoute } from '../../app/root-route.tsx';
import { type ModelsSearch, validateModels } from './models-search.ts';

export const modelsRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/models',
  validateSearch: (search: Record<string, unknown>): ModelsSearch => validateModels(search),
  component: lazyRouteComponent(() => import('./models-page.tsx'), 'ModelsPage'),
});
