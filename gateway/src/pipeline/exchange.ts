import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestId } from '@gatehouse/contract';
import type { HeldBody } from '../bodies/held-body.ts';
import type { GatewayKey, Route } from '../catalogue/queries.ts';
import { type Clock, realTimers, type Timers } from '../clock.ts';
import { CallerGone, serviceUnavailable } from '../http/gateway-error.ts';
import type { TerminationReason } from '../journal/finished-request.ts';
import type { RateDecision } from '../rates/rate-limiter.ts';

/** Why a request must not go on: its caller left, or this gateway is stopping and will wait no longer. */
export type StopReason = 'caller_gone' | 'stopping';

export type Operation = 'createChatCompletion' | 'listModels' | 'healthz' | 'readyz' | 'whatIsServed';

/** One request and its answer in flight, with what the steps have learnt of it so far. */
export class Exchange {
  readonly id: RequestId;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly timers: Timers;
  /** Whether the caller waits for leave (100 Continue) before it sends the body. */
  readonly expectsContinue: boolean;
  readonly startedAtMicros: bigint;
  /** On the monotonic clock, as all times below. */
  readonly startedAtMs: number;

  /** What was asked for, as the log calls it; undefined where nothing answers to it. */
  operation: Operation | undefined;
  /** What its body holds of the memory that all share. */
  heldBody: HeldBody | undefined;
  key: GatewayKey | undefined;
  rate: RateDecision | undefined;
  /** As the caller sent it. */
  model = '';
  isStream = false;
  route: Route | undefined;
  /** Whether it goes out with the organisation's own key for the provider. */
  isByok = false;
  promptTokens: number | undefined;
  /** Output tokens at most per choice, as sent to the provider; undefined before admission. */
  outputCap: number | undefined;
  /** The output cap, where it was lowered for want of credit. */
  loweredOutputCap: number | undefined;
  /** Answers asked for at once. */
  choices = 1;
  /** Whether credit was set aside, or may have been. */
  isHeld = false;
  /** What was set aside; undefined before admission. */
  heldMicroPkr: bigint | undefined;
  /** The most tokens that the provider can have made of the prompt; undefined before dispatch. */
  mostPromptTokens: number | undefined;
  dispatchedAtMs: number | undefined;
  firstTokenAtMs: number | undefined;
  /** When the caller left before its answer was whole. What is done after that is not on its time. */
  leftAtMs: number | undefined;

  /** How it ended, once it has. */
  recorded: { readonly status: number; readonly termination: TerminationReason } | undefined;
  /** What the log says besides: the reason for a 503. */
  remark: string | undefined;

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
    timers: Timers = realTimers,
  ) {
    this.id = id;
    this.timers = timers;
    this.request = request;
    this.response = response;
    this.expectsContinue = expectsContinue;
    this.startedAtMicros = BigInt(Math.round(clock.now() * 1000));
    this.startedAtMs = clock.monotonic();
    // A connection that breaks reports here too; what it means is decided at 'close'.
    const ignore = () => {};
    request.on('error', ignore);
    response.on('error', ignore);
    response.on('close', () => {
      if (response.writableEnded) return;
      this.leftAtMs = clock.monotonic();
      this.stop('caller_gone');
    });
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

/** What a step throws that was stopped. */
export function stopped(reason: StopReason): Error {
  return reason === 'caller_gone'
    ? new CallerGone('the caller closed the connection')
    : serviceUnavailable('proxy_guillotine');
}
