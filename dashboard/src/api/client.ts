import { type Client, createClient, GatehouseError } from '@gatehouse/sdk';
import { refreshOnce } from '../app/session-refresh.ts';
import { sessionEnded } from '../app/session-store.ts';
import { noteServiceTime } from '../browser/clock.ts';

/** The client of all pages. It renews an expired session by itself and repeats the call. */
export const client: Client = createClient({
  baseUrl: '/api',
  fetch: async (...request) => {
    const response = await fetch(...request);
    noteServiceTime(response.headers.get('date'));
    return response;
  },
  timeoutMs: 30_000,
  refresh: refreshOnce,
  onUnauthorized: sessionEnded,
});

export function isUnauthorized(error: unknown): boolean {
  return error instanceof GatehouseError && error.status === 401;
}
