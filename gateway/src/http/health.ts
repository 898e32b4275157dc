import { createReadiness, type Database } from '@gatehouse/store';
import type { Dependencies } from '../context/dependencies.ts';
import { sendWhole } from '../exchange/answers.ts';
import type { Exchange } from '../exchange/exchange.ts';

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };

/** `GET /healthz`: the process is up. */
export async function showHealth(exchange: Exchange): Promise<void> {
  sendJson(exchange, 200, { status: 'up' });
}

export interface ReadinessDependencies extends Pick<Dependencies, 'journal' | 'clock'> {
  readonly database: Pick<Database, 'run' | 'usage'>;
  readonly isStopping: () => boolean;
}

/**
 * `GET /readyz`: whether requests can be served, and what is missing if not. Strangers read it, so it says nothing of providers
 * and credentials. Guarded by upstream-states.http.test.ts.
 */
export function showReadiness({
  database,
  journal,
  clock,
  isStopping,
}: ReadinessDependencies): (exchange: Exchange) => Promise<void> {
  const whatIsMissing = createReadiness(database, () => clock.monotonicMs());
  return async (exchange) => {
    const missing = [
      ...(isStopping() ? ['the service is stopping'] : await whatIsMissing()),
      ...(journal.hasRoom ? [] : ['the disk is nearly full']),
    ];
    if (missing.length === 0) sendJson(exchange, 200, { status: 'ready' });
    else sendJson(exchange, 503, { status: 'not ready', missing });
  };
}

function sendJson(exchange: Exchange, status: number, body: unknown): void {
  sendWhole(exchange, status, JSON_TYPE, Buffer.from(JSON.stringify(body)), {});
}
