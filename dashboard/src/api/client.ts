import { type Client, createClient, GatehouseError } from '@gatehouse/sdk';
import { noteServiceTime } from '../browser/clock.ts';
import { refreshOnce } from '../session/session-refresh.ts';
import { sessionEnded } from '../session/session-store.ts';

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
