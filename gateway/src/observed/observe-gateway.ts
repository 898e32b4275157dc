import { gatewayMetrics, type Metrics, queueMetrics } from '@gatehouse/observability';
import type { Dependencies } from '../context/dependencies.ts';
import type { Breakers } from '../routing/breakers.ts';

type Observed = Pick<
  Dependencies,
  'routing' | 'keyReads' | 'admissions' | 'permits' | 'readers' | 'bodies' | 'smallBodies' | 'rates' | 'clock'
>;

/** Reports at each scrape what the gateway holds at that moment. */
export function observeGateway(metrics: Metrics, observed: Observed, inFlight: () => number): void {
  const { routing, keyReads, admissions, permits, readers, bodies, smallBodies, rates, clock } = observed;
  metrics.observe(gatewayMetrics.inFlight, (report) => report(inFlight()));
  metrics.observe(gatewayMetrics.bodyBytes, (report) => report(bodies.takenBytes + smallBodies.takenBytes));
  metrics.observe(gatewayMetrics.ratesShared, (report) => {
    const isShared = rates.isShared?.();
    report(isShared === undefined ? undefined : Number(isShared));
  });
  metrics.observe(queueMetrics.depth, (report) => {
    report(keyReads.waiting(), 'key_reads');
    report(admissions.waiting(), 'admissions');
    report(permits.routes.waiting(), 'routes');
    report(readers.waiting(), 'readers');
    report(routing.queue.size, 'cooling');
  });
  const states = breakerStates(routing.breakers, () => clock.monotonicMs());
  metrics.observe(gatewayMetrics.upstreamState, (report) => {
    for (const { labels, state } of states()) report(state, ...labels);
  });
}

type UpstreamLabels = readonly [provider: string, upstreamModel: string, surface: string, credential: string];

const CLOSED = 0;
const HALF_OPEN = 1;
const OPEN = 2;
const MAX_REMEMBERED = 2_000;

/**
 * The state of each breaker that has been open. One that closed again stays, as closed: a series that disappears would
 * keep its last value for minutes. Those of organisations' own credentials are not for everyone to see.
 */
function breakerStates(breakers: Breakers, nowMs: () => number) {
  const seen = new Map<string, { readonly labels: UpstreamLabels; state: number }>();
  return () => {
    for (const one of seen.values()) one.state = CLOSED;
    for (const { name, forAll, forSome } of breakers.list()) {
      const { provider, upstreamModel, surface, credential } = name;
      const labels: UpstreamLabels = [provider, upstreamModel, surface, credential];
      const key = JSON.stringify(labels);
      const isOpen = [forAll, forSome?.opening].some((opening) => opening && opening.untilMs > nowMs());
      const state = isOpen ? OPEN : HALF_OPEN;
      const known = seen.get(key);
      if (known) known.state = state;
      else if (seen.size < MAX_REMEMBERED) seen.set(key, { labels, state });
    }
    return seen.values();
  };
}
