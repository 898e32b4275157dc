import type { Dependencies } from '../context/dependencies.ts';
import type { Outcome } from '../context/outcome.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { Use } from '../routing/breakers.ts';
import type { Failure } from '../routing/retry.ts';
import { beginAttempt, endAttempt, traced } from './attempt-span.ts';
import { failureOf, isOfUpstream } from './failure-of.ts';
import { type AttemptLimits, Relay, type RelayContext, type RelayDependencies } from './relay.ts';
import type { Head } from './whole-answer.ts';

/** One attempt that has ended. */
export interface Attempted {
  readonly outcome: Outcome;
  /** The provider's head, where one came. */
  readonly head: Head | undefined;
  /** The failure at the provider. */
  readonly failure: Failure | undefined;
  /** The answer is not sent after all. */
  discard(): void;
}

/** Sends the request once, and reports to the breaker how its upstream fared. */
export async function attempt(
  context: RelayContext,
  exchange: Exchange,
  dependencies: RelayDependencies & Pick<Dependencies, 'settings'>,
  limits: AttemptLimits,
  use: Use,
): Promise<Attempted> {
  const { clock } = dependencies;
  const onContent = () => {
    use.succeed();
    limits.onContent();
  };
  const span = beginAttempt(context.sent, exchange);
  let ended: Outcome | undefined;
  try {
    const sent = traced(context.sent, span, dependencies.settings.traceContextTo);
    const relay = new Relay({ ...context, sent }, exchange, dependencies, { ...limits, onContent });
    exchange.attemptStartedAtMs = clock.monotonicMs();
    exchange.dispatchedAtMs ??= exchange.attemptStartedAtMs;
    exchange.upstreamStatus = undefined;
    const outcome = await relay.run();
    ended = outcome;
    exchange.attemptEndedAtMs = clock.monotonicMs();
    const failure = failureOf(outcome, relay.contact, clock.epochMs());
    report(use, outcome, failure);
    return { outcome, head: relay.contact.head, failure, discard: () => relay.discard() };
  } finally {
    endAttempt(span, exchange, ended);
    use.release();
  }
}

function report(use: Use, { kind }: Outcome, failure: Failure | undefined): void {
  if (failure && isOfUpstream(failure)) use.fail(failure);
  // A refusal without a failure, or an early end, is the caller's or this gateway's doing.
  else if (failure || kind === 'answered' || kind === 'streamed') use.succeed();
}
