import { createReadiness, type Database } from '@gatehouse/store';
import type { Dependencies } from '../pipeline/dependencies.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { sendWhole } from './answers.ts';

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };

/** `GET /healthz`: the process is up. */
export async function showHealth(exchange: Exchange): Promise<void> {
  sendJson(exchange, 200, { status: 'up' });
}

export interface ReadinessDependencies extends Pick<Dependencies, 'journal' | 'routing' | 'clock'> {
  readonly database: Pick<Database, 'run' | 'usage'>;
  readonly isStopping: () => boolean;
}

/** `GET /readyz`: whether requests can be served, and what is missing if not. */
export function showReadiness({
  database,
  journal,
  routing,
  clock,
  isStopping,
}: ReadinessDependencies): (exchange: Exchange) => Promise<void> {
  const whatIsMissing = createReadiness(database, () => clock.monotonicMs());
  return async (exchange) => {
    const missing = [
      ...(isStopping() ? ['the service is stopping'] : await whatIsMissing()),
      ...(journal.hasRoom ? [] : ['the disk is nearly full']),
    ];
    const cooling = coolingUpstreams(routing, clock.monotonicMs());
    const details = cooling.length > 0 && { cooling };
    if (missing.length === 0) sendJson(exchange, 200, { status: 'ready', ...details });
    else sendJson(exchange, 503, { status: 'not ready', missing, ...details });
  };
}

// Nobody reads more of them, and health checks come often.
const MOST_SHOWN = 100;

/** The platform's upstreams that are not used for now. Those of organisations' own keys are not for everyone to see. */
function coolingUpstreams({ breakers }: Dependencies['routing'], nowMs: number) {
  return breakers
    .list()
    .filter(({ name: { owner } }) => owner === null)
    .slice(0, MOST_SHOWN)
    .map(({ name: { provider, upstreamModel, credential }, opening: { untilMs, reason } }) => ({
      provider,
      upstream_model: upstreamModel,
      credential,
      state: untilMs > nowMs ? 'open' : 'half_open',
      for_seconds: Math.max(Math.ceil((untilMs - nowMs) / 1_000), 0),
      reason,
    }));
}

function sendJson(exchange: Exchange, status: number, body: unknown): void {
  sendWhole(exchange, status, JSON_TYPE, Buffer.from(JSON.stringify(body)), {});
}
