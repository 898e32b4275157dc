import { createRootRoute, createRoute, lazyRouteComponent, Outlet, redirect } from '@tanstack/react-router';
import { NotFound, PageError } from './page-error.tsx';
import { safeReturn } from './search.ts';
import { loadSession } from './session.ts';
import { Shell } from './shell.tsx';
import { Splash } from './splash.tsx';

export const rootRoute = createRootRoute({
  component: Outlet,
  notFoundComponent: NotFound,
  errorComponent: PageError,
  pendingComponent: Splash,
});

/** The parent of every page that needs a session. */
export const signedInRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'signed-in',
  component: Shell,
  beforeLoad: async ({ location }) => {
    const session = await loadSession();
    if (session.kind !== 'signed-out') return;
    throw redirect({ to: '/sign-in', search: location.href === '/' ? {} : { return: location.href } });
  },
});

interface SignInSearch {
  readonly return?: string;
}

function validateReturn(search: Record<string, unknown>): SignInSearch {
  const path = safeReturn(search['return']);
  return path === '/' ? {} : { return: path };
}

export const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: validateReturn,
  component: lazyRouteComponent(() => import('../pages/sign-in/sign-in-page.tsx'), 'SignInPage'),
});

export const registerRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/register',
  validateSearch: validateReturn,
  component: lazyRouteComponent(() => import('../pages/sign-in/register-page.tsx'), 'RegisterPage'),
});
