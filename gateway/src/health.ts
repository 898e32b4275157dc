import { sendWhole } from './answers.ts';
import type { Clock } from './clock.ts';
import type { Exchange } from './exchange.ts';
import type { Parts } from './parts.ts';
import { probe } from './queries.ts';

const PROBE_KEPT_MS = 500;

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };

/** `GET /healthz`: the process is up. */
export async function showHealth(exchange: Exchange): Promise<void> {
  sendWhole(exchange, 200, JSON_TYPE, Buffer.from('{"status":"ok"}'));
}

/** `GET /readyz`: whether requests can be served; what is missing if not. */
export function createReadiness(
  { database }: Pick<Parts, 'database'>,
  clock: Clock,
): (exchange: Exchange) => Promise<void> {
  // Balancers ask often, strangers as often as they like; the database is asked at most twice a second.
  let last: { readonly atMs: number; readonly isAnswering: Promise<boolean> } | undefined;
  const isDatabaseAnswering = () => {
    const nowMs = clock.monotonic();
    if (!last || nowMs - last.atMs >= PROBE_KEPT_MS) {
      const isAnswering = probe(database).then(
        () => true,
        () => false,
      );
      last = { atMs: nowMs, isAnswering };
    }
    return last.isAnswering;
  };
  return async (exchange) => {
    const missing = (await isDatabaseAnswering()) ? [] : ['postgresql'];
    const status = missing.length === 0 ? 200 : 503;
    const body = status === 200 ? { status: 'ready' } : { status: 'not ready', missing };
    sendWhole(exchange, status, JSON_TYPE, Buffer.from(JSON.stringify(body)));
  };
}
