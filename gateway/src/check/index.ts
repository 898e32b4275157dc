/** The operator's own proof of a provider: one small request for each surface, and where its answer is not as claimed. */
import { systemClock } from '@gatehouse/concurrency';
import type { Surface } from '@gatehouse/contract';
import type { ProxyOf } from '@gatehouse/http/outgoing';
import type { Queryable } from '@gatehouse/store';
import type { Logger } from 'pino';
import { findAnyRoute } from '../catalogue/queries.ts';
import type { Route, Target } from '../catalogue/route.ts';
import { createCloudCredentials } from '../providers/cloud/cloud-credentials.ts';
import { createHttpUpstreams } from '../providers/http-upstream.ts';
import { type Check, checkTarget } from './check-target.ts';
import { type Difference, isSamePrompt } from './differences.ts';
import { ENDPOINTS_OF, STREAMED } from './probes.ts';

export type { Check } from './check-target.ts';
export { DIFFERENCES, type Difference } from './differences.ts';

export interface ProviderCheck extends Check {
  readonly provider: string;
  readonly route: string;
}

export interface ProviderCheckDependencies {
  readonly database: Queryable;
  /** The platform's own key for a provider, by the name of its environment variable. */
  readonly platformKey: (variable: string) => string | undefined;
  readonly proxyOf: ProxyOf;
  readonly log: Logger;
}

/**
 * Checks a provider by the routes with these ids, one request after the other: each of its surfaces by the first route that
 * uses it.
 */
export async function checkProvider(
  provider: string,
  routeIds: readonly string[],
  { database, platformKey, proxyOf, log }: ProviderCheckDependencies,
): Promise<ProviderCheck[]> {
  const http = createHttpUpstreams({ proxyOf, log });
  const upstreams = {
    find: ({ baseUrl, flags }: Target['provider']) =>
      baseUrl === null ? undefined : http.at(baseUrl, flags),
    close: () => http.close(),
  };
  const cloud = createCloudCredentials({ variable: platformKey, proxyOf, clock: systemClock, log });
  const checks: ProviderCheck[] = [];
  const checked = new Set<Surface>();
  try {
    for (const id of routeIds) {
      const route = (await findAnyRoute(database, id))?.route;
      const target = route?.targets.find((one) => one.provider.name === provider);
      if (!route || !target) continue;
      for (const surface of surfacesToCheck(route, target)) {
        if (checked.has(surface)) continue;
        checked.add(surface);
        const done: Check[] = [];
        for (const isStream of STREAMED.has(surface) ? [false, true] : [false]) {
          const using = { ...target, provider: withOneKey(target.provider, platformKey) };
          const check = await checkTarget(route, using, surface, isStream, { upstreams, cloud, platformKey });
          done.push(check);
          checks.push({ provider, route: id, ...compared(check, done[0]) });
        }
      }
    }
    return checks;
  } finally {
    await upstreams.close();
  }
}

function surfacesToCheck({ endpoints }: Route, { provider }: Target): Surface[] {
  return [...provider.surfaces.keys()].filter((surface) =>
    ENDPOINTS_OF[surface].some((endpoint) => endpoints.includes(endpoint)),
  );
}

/** A pool is checked by the first of its keys that is there. */
function withOneKey(
  provider: Target['provider'],
  platformKey: ProviderCheckDependencies['platformKey'],
): Target['provider'] {
  const first = provider.credentials.find(({ apiKeyEnv }) => platformKey(apiKeyEnv) !== undefined);
  return first ? { ...provider, credentials: [first] } : provider;
}

/** With the difference between a stream and the document of the same request. */
function compared(check: Check, first: Check | undefined): Check {
  const { usage, differences } = check;
  if (!first || first === check || !usage || !first.usage || isSamePrompt(usage, first.usage)) return check;
  const all: Difference[] = [...differences, 'usage_differs'];
  return { ...check, differences: all };
}
