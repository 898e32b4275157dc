import { type Attempted, attempt } from '../attempt/attempt.ts';
import { lastAttempt } from '../attempt/last-attempt.ts';
import { meter } from '../attempt/meter.ts';
import { prepare, type Sending } from '../attempt/prepare.ts';
import type { RelayDependencies } from '../attempt/relay.ts';
import type { Context, Sent } from '../context/context.ts';
import type { Dependencies } from '../context/dependencies.ts';
import { recordedOutcome } from '../context/outcome.ts';
import { outcomeOfError } from '../context/outcome-of-error.ts';
import { upstreamUnavailable } from '../errors/upstream-errors.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { Chain, type Left, type Turn } from '../routing/chain.ts';
import { isWorthAnother } from '../routing/retry.ts';
import { maskKeys } from '../wire/text.ts';

type Needs = Pick<
  Context,
  'key' | 'rate' | 'endpoint' | 'call' | 'route' | 'heldBody' | 'heldMicroPkr' | 'admitted' | 'labels'
>;
type Using = RelayDependencies & Pick<Dependencies, 'routing' | 'settings' | 'metadata'>;

type Added = Pick<Context, 'sent' | 'chosen' | 'outcome'>;

/**
 * Sends the request to one candidate after the other until one answers, and resolves with how the last attempt ended. Of a
 * stream, everything but its end has then been sent. 503 where no provider may be asked now.
 */
export function dispatch(context: Needs, exchange: Exchange, dependencies: Using): Promise<Added> {
  exchange.throwIfStopped();
  // Before anything is answered: what is not stored is said in its head.
  exchange.metadata = dependencies.metadata.store(context.key.organizationId, context.labels);
  return new Dispatch(context, exchange, dependencies).run();
}

/** An attempt that has ended, and what it was. */
interface Ended extends Attempted {
  readonly turn: Turn;
  readonly sent: Sent;
  /** True if the body is still there for another. */
  readonly canBeFollowed: boolean;
}

/** The attempts of one request. All of them share its hold, its time limit and its body. */
class Dispatch {
  readonly #context: Needs;
  readonly #exchange: Exchange;
  readonly #dependencies: Using;
  readonly #chain: Chain;
  #left: Left;
  #queueLeftMs: number;
  #deadlineMs = Number.POSITIVE_INFINITY;

  constructor(context: Needs, exchange: Exchange, dependencies: Using) {
    const { route, admitted, heldMicroPkr } = context;
    this.#context = context;
    this.#exchange = exchange;
    this.#dependencies = dependencies;
    this.#chain = new Chain(admitted, dependencies.routing.breakers, route.queueMs > 0);
    this.#left = { attempts: route.maxAttempts, microPkr: heldMicroPkr };
    this.#queueLeftMs = route.queueMs;
  }

  async run(): Promise<Added> {
    let turn = await this.#nextTurn();
    if (!turn) throw this.#unavailable();
    for (;;) {
      const ended = await this.#attempt(turn);
      const next = await this.#turnAfter(ended);
      if (!next) return this.#last(ended);
      ended.discard();
      turn = next;
    }
  }

  #last({ outcome, sent, turn: { candidate } }: Ended): Added {
    const { responseId } = outcome.reading ?? {};
    const { route, key } = this.#context;
    const { provider, credential } = candidate.upstreamName;
    const hasOthers = route.targets.length > 1 || candidate.target.provider.credentials.length > 1;
    if (responseId !== undefined && hasOthers) {
      this.#dependencies.routing.makers.add(key.organizationId, responseId, { provider, credential });
    }
    return { sent, chosen: candidate, outcome };
  }

  /** The turn that follows a failed attempt; undefined where its outcome is the request's. */
  async #turnAfter(ended: Ended): Promise<Turn | undefined> {
    const { failure, outcome, sent, canBeFollowed } = ended;
    const { key, call, route } = this.#context;
    const exchange = this.#exchange;
    const { response, id } = exchange;
    const credential = { isByok: ended.turn.candidate.isByok, mayFallBack: key.byokFallback };
    if (!failure || !canBeFollowed || response.headersSent || !isWorthAnother(failure, credential))
      return undefined;
    this.#chain.onFailure(ended.turn.candidate, failure);
    if (!this.#chain.hasMore(this.#left) || this.#timeLeftMs() <= 0) return undefined;
    const { log, readers, clock } = this.#dependencies;
    const endedAtMs = clock.monotonicMs();
    const used = { sent, route, call, heldMicroPkr: this.#left.microPkr };
    const metered = await meter(used, id, outcome, log, (texts) =>
      readers.countTokens(key.organizationId, texts),
    );
    this.#left = { ...this.#left, microPkr: this.#left.microPkr - metered.costMicroPkr };
    const upstreamError = recordedOutcome(outcome, false).upstreamError ?? metered.usageError;
    const error = { upstreamError: upstreamError === null ? null : maskKeys(upstreamError) };
    const recorded = lastAttempt(sent.candidate, exchange, outcome, error, metered, endedAtMs);
    // A caller that leaves while the request waits gets nothing; what was done is recorded.
    const next =
      exchange.stopReason === undefined ? await this.#nextTurn().catch(() => undefined) : undefined;
    if (next) exchange.earlierAttempts.push(recorded);
    return next;
  }

  /** Waits for a candidate where none can be tried, as long as the route says. */
  async #nextTurn(): Promise<Turn | undefined> {
    const { key } = this.#context;
    const { clock, routing } = this.#dependencies;
    for (;;) {
      const turn = this.#chain.take(this.#left);
      if (turn) return turn;
      const mostMs = Math.min(this.#queueLeftMs, this.#timeLeftMs());
      if (mostMs <= 0 || !this.#chain.hasMore(this.#left)) break;
      const sinceMs = clock.monotonicMs();
      const names = this.#chain.names(this.#left);
      const waited = await routing.queue.wait(key.organizationId, names, mostMs, this.#exchange);
      this.#queueLeftMs -= clock.monotonicMs() - sinceMs;
      if (!waited) break;
    }
    return this.#chain.takeForWantOfAnother(this.#left);
  }

  async #attempt(turn: Turn): Promise<Ended> {
    const { candidate, use } = turn;
    const { key, rate, route, heldBody } = this.#context;
    const { timeoutMs } = route;
    const { clock } = this.#dependencies;
    this.#left = { ...this.#left, attempts: this.#left.attempts - 1 };
    const keptBytes = this.#keepBodies(turn);
    const canBeFollowed = keptBytes > 0;
    const { wantedOutput } = candidate;
    const outputCap = candidate.largestCap(this.#left.microPkr, wantedOutput);
    const loweredOutputCap = outputCap < wantedOutput ? outputCap : undefined;
    const sent = this.#prepare({ candidate, outputCap, loweredOutputCap, keptBytes }, use);
    if (!canBeFollowed) this.#releaseBodies();
    const isFirst = this.#deadlineMs === Number.POSITIVE_INFINITY;
    if (isFirst) this.#deadlineMs = clock.monotonicMs() + timeoutMs;
    const limits = {
      timeoutMs: isFirst ? timeoutMs : this.#timeLeftMs(),
      canBeFollowed,
      contentTimeoutMs: canBeFollowed ? (route.attemptTimeoutMs ?? undefined) : undefined,
      onContent: () => {
        if (!canBeFollowed) return;
        this.#releaseBodies();
        heldBody.release();
      },
    };
    try {
      const attempted = await attempt(
        { key, rate, route, heldBody, sent },
        this.#exchange,
        this.#dependencies,
        limits,
        use,
      );
      const { outcome, head, failure, discard } = attempted;
      return { turn, sent, canBeFollowed, outcome, head, failure, discard };
    } catch (error) {
      const outcome = outcomeOfError(error, { sent }, this.#exchange, this.#dependencies);
      return { turn, sent, canBeFollowed, outcome, head: undefined, failure: undefined, discard: () => {} };
    }
  }

  #prepare(sending: Sending, use: Turn['use']): Sent {
    try {
      return prepare(this.#context, sending, this.#exchange);
    } catch (error) {
      use.release();
      throw error;
    }
  }

  /** The bytes that stay in memory for another attempt; 0 where none can follow, or there is no memory for it. */
  #keepBodies({ candidate }: Turn): number {
    if (!this.#chain.hasMore(this.#left)) return 0;
    const calls = new Set(this.#context.admitted.map(({ providerCall }) => providerCall));
    let bytes = 0;
    for (const call of calls) bytes += call.peekBody().length;
    const sentBytes = candidate.providerCall.peekBody().length;
    return this.#context.heldBody.resize(bytes + sentBytes) ? bytes : 0;
  }

  #releaseBodies(): void {
    for (const { providerCall } of this.#context.admitted) providerCall.releaseBody();
  }

  #timeLeftMs(): number {
    return this.#deadlineMs - this.#dependencies.clock.monotonicMs();
  }

  #unavailable(): Error {
    const { clock, routing } = this.#dependencies;
    const { admitted, route } = this.#context;
    const untilMs = admitted.map(
      ({ upstreamName }) => routing.breakers.openingOf(upstreamName)?.untilMs ?? 0,
    );
    const seconds = Math.ceil((Math.min(...untilMs) - clock.monotonicMs()) / 1_000);
    return upstreamUnavailable(route.id, Math.max(seconds, 1));
  }
}
