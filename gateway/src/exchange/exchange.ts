import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Clock, systemClock, type Timers } from '@gatehouse/concurrency';
import type { RequestId } from '@gatehouse/contract';
import type { Span } from '@gatehouse/observability';
import type { Attempt } from '@gatehouse/store';
import { CallerGone, serviceUnavailable } from '../errors/gateway-error.ts';
import type { StoredMetadata } from './metadata.ts';

/** Why a request must not go on: its caller left, or this gateway is stopping and will wait no longer. */
export type StopReason = 'caller_gone' | 'stopping';

/** One request and its answer in flight: its identity, its times, and whether it must stop. */
export class Exchange {
  readonly id: RequestId;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly timers: Timers;
  /** True if the caller waits for leave (100 Continue) before it sends the body. */
  readonly expectsContinue: boolean;
  readonly startedAtMicros: bigint;
  /** On the monotonic clock, as all times below. */
  readonly startedAtMs: number;

  /** The headers by which the page of another origin may read the answer; undefined where none may. */
  crossOrigin: Readonly<Record<string, string>> | undefined;

  /** Undefined where nothing is traced. */
  span: Span | undefined;

  /** The stored metadata of the request; undefined before it is sent to a provider. */
  metadata: StoredMetadata | undefined;
  /** When the first attempt began, and the one that is on or was the last. */
  dispatchedAtMs: number | undefined;
  attemptStartedAtMs: number | undefined;
  /** When the last attempt ended, so far. */
  attemptEndedAtMs: number | undefined;
  firstTokenAtMs: number | undefined;
  /** The provider's status in the attempt that is on, or was the last; undefined before its head has come. */
  upstreamStatus: number | undefined;
  /** Failed attempts that were retried. */
  readonly earlierAttempts: Attempt[] = [];
  /** When the caller left before its answer was whole. What is done after that is not on its time. */
  leftAtMs: number | undefined;

  /**
   * Called when the request must not go on, by whichever wait is on at the moment. When the gateway stops it is called
   * for a request, too, whose caller has left already.
   */
  onStop: ((reason: StopReason) => void) | undefined;
  #stopReason: StopReason | undefined;

  constructor(
    id: RequestId,
    request: IncomingMessage,
    response: ServerResponse,
    clock: Clock,
    expectsContinue: boolean,
    timers: Timers = systemClock,
  ) {
    this.id = id;
    this.timers = timers;
    this.request = request;
    this.response = response;
    this.expectsContinue = expectsContinue;
    this.startedAtMicros = BigInt(Math.round(clock.epochMs() * 1000));
    this.startedAtMs = clock.monotonicMs();
    // A connection that breaks reports here too; what it means is decided at 'close'.
    const ignore = () => {};
    request.on('error', ignore);
    response.on('error', ignore);
    response.on('close', () => {
      if (response.writableEnded) return;
      this.leftAtMs = clock.monotonicMs();
      this.stop('caller_gone');
    });
  }

  /** The cost of the earlier attempts. */
  get earlierCostMicroPkr(): bigint {
    return this.earlierAttempts.reduce((sum, { costMicroPkr }) => sum + costMicroPkr, 0n);
  }

  get stopReason(): StopReason | undefined {
    return this.#stopReason;
  }

  stop(reason: StopReason): void {
    if (this.#stopReason !== undefined && reason === 'caller_gone') return;
    this.#stopReason ??= reason;
    this.onStop?.(reason);
  }

  /** To be called before anything that costs: throws when the request must not go on. */
  throwIfStopped(): void {
    if (this.#stopReason !== undefined) throw stopped(this.#stopReason);
  }
}

/** The error that a step throws when it was stopped. */
export function stopped(reason: StopReason): Error {
  return reason === 'caller_gone'
    ? new CallerGone('the caller closed the connection')
    : serviceUnavailable('proxy_guillotine');
}
