import { createRootRoute, createRoute, lazyRouteComponent, Outlet, redirect } from '@tanstack/react-router';
import { type AnalyticsSearch, validateAnalytics } from '../app/analytics-search.ts';
import { NotFound, PageError } from '../app/page-error.tsx';
import { safeReturn } from '../app/search.ts';
import { loadSession } from '../app/session.ts';
import { Shell } from '../app/shell.tsx';
import { Splash } from '../app/splash.tsx';
import { type ActivitySearch, validateActivity } from '../pages/activity/activity-search.ts';
import { type ErrorsSearch, validateErrors } from '../pages/errors/errors-search.ts';
import { type KeysSearch, validateKeys } from '../pages/keys/keys-search.ts';
import { type ModelsSearch, validateModels } from '../pages/models/models-search.ts';
import { type OverviewSearch, validateOverview } from '../pages/overview/overview-search.ts';
import { type ProvidersSearch, validateProviders } from '../pages/providers/providers-search.ts';
import { type RequestsSearch, validateRequests } from '../pages/requests/requests-search.ts';
import { type SessionsSearch, validateSessions } from '../pages/sessions/sessions-search.ts';

// Every page: a `createRoute` here, and a folder of its own. A page knows its route by `getRouteApi`, and its code loads when it is first opened.

const root = createRootRoute({
  component: Outlet,
  notFoundComponent: NotFound,
  errorComponent: PageError,
  pendingComponent: Splash,
});

/** The parent of every page that needs a session. */
const signedIn = createRoute({
  getParentRoute: () => root,
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

interface SignInErrorSearch extends SignInSearch {
  /** The code of a sign-in that failed elsewhere. */
  readonly error?: string;
}

function validateSignIn(search: Record<string, unknown>): SignInErrorSearch {
  const { error } = search;
  return { ...validateReturn(search), ...(typeof error === 'string' ? { error } : {}) };
}

function validateReturn(search: Record<string, unknown>): SignInSearch {
  const path = safeReturn(search['return']);
  return path === '/' ? {} : { return: path };
}

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: validateSignIn,
  component: lazyRouteComponent(() => import('../pages/sign-in/sign-in-page.tsx'), 'SignInPage'),
});

const register = createRoute({
  getParentRoute: () => root,
  path: '/register',
  validateSearch: validateReturn,
  component: lazyRouteComponent(() => import('../pages/sign-in/register-page.tsx'), 'RegisterPage'),
});

const overview = createRoute({
  getParentRoute: () => signedIn,
  path: '/',
  validateSearch: (search: Record<string, unknown>): OverviewSearch => validateOverview(search),
  component: lazyRouteComponent(() => import('../pages/overview/overview-page.tsx'), 'OverviewPage'),
});

const requests = createRoute({
  getParentRoute: () => signedIn,
  path: '/requests',
  validateSearch: (search: Record<string, unknown>): RequestsSearch => validateRequests(search),
  component: lazyRouteComponent(() => import('../pages/requests/requests-page.tsx'), 'RequestsPage'),
});

const errors = createRoute({
  getParentRoute: () => signedIn,
  path: '/errors',
  validateSearch: (search: Record<string, unknown>): ErrorsSearch => validateErrors(search),
  component: lazyRouteComponent(() => import('../pages/errors/errors-page.tsx'), 'ErrorsPage'),
});

const sessions = createRoute({
  getParentRoute: () => signedIn,
  path: '/sessions',
  validateSearch: (search: Record<string, unknown>): SessionsSearch => validateSessions(search),
  component: lazyRouteComponent(() => import('../pages/sessions/sessions-page.tsx'), 'SessionsPage'),
});

const usage = createRoute({
  getParentRoute: () => signedIn,
  path: '/usage',
  validateSearch: (search: Record<string, unknown>): AnalyticsSearch => validateAnalytics(search),
  component: lazyRouteComponent(() => import('../pages/usage/usage-page.tsx'), 'UsagePage'),
});

const keys = createRoute({
  getParentRoute: () => signedIn,
  path: '/keys',
  validateSearch: (search: Record<string, unknown>): KeysSearch => validateKeys(search),
  component: lazyRouteComponent(() => import('../pages/keys/keys-page.tsx'), 'KeysPage'),
});

const limits = createRoute({
  getParentRoute: () => signedIn,
  path: '/limits',
  component: lazyRouteComponent(() => import('../pages/limits/limits-page.tsx'), 'LimitsPage'),
});

const alerts = createRoute({
  getParentRoute: () => signedIn,
  path: '/alerts',
  component: lazyRouteComponent(() => import('../pages/alerts/alerts-page.tsx'), 'AlertsPage'),
});

const models = createRoute({
  getParentRoute: () => signedIn,
  path: '/models',
  validateSearch: (search: Record<string, unknown>): ModelsSearch => validateModels(search),
  component: lazyRouteComponent(() => import('../pages/models/models-page.tsx'), 'ModelsPage'),
});

const providers = createRoute({
  getParentRoute: () => signedIn,
  path: '/providers',
  validateSearch: (search: Record<string, unknown>): ProvidersSearch => validateProviders(search),
  component: lazyRouteComponent(() => import('../pages/providers/providers-page.tsx'), 'ProvidersPage'),
});

const members = createRoute({
  getParentRoute: () => signedIn,
  path: '/members',
  component: lazyRouteComponent(() => import('../pages/members/members-page.tsx'), 'MembersPage'),
});

const activity = createRoute({
  getParentRoute: () => signedIn,
  path: '/activity',
  validateSearch: (search: Record<string, unknown>): ActivitySearch => validateActivity(search),
  component: lazyRouteComponent(() => import('../pages/activity/activity-page.tsx'), 'ActivityPage'),
});

const organization = createRoute({
  getParentRoute: () => signedIn,
  path: '/organization',
  component: lazyRouteComponent(
    () => import('../pages/organization/organization-page.tsx'),
    'OrganizationPage',
  ),
});

export const routeTree = root.addChildren([
  signIn,
  register,
  signedIn.addChildren([
    // One page a line.
    overview,
    requests,
    errors,
    sessions,
    usage,
    keys,
    limits,
    alerts,
    models,
    providers,
    members,
    activity,
    organization,
  ]),
]);
