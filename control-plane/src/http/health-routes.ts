import type { Route } from './router.ts';

const STOPPING = 'the service is stopping';

/** The routes for a load balancer or a supervisor: whether the process is up, and whether it is ready. `missing` says why not. */
export function healthRoutes(missing: () => Promise<readonly string[]>, isStopping: () => boolean): Route[] {
  return [
    { method: 'GET', path: '/healthz', handle: async (exchange) => exchange.sendJson(200, { status: 'up' }) },
    {
      method: 'GET',
      path: '/readyz',
      async handle(exchange) {
        const reasons = isStopping() ? [STOPPING] : await missing();
        if (reasons.length === 0) exchange.sendJson(200, { status: 'ready' });
        else exchange.sendJson(503, { status: 'not ready', missing: reasons });
      },
    },
  ];
}
