import { setTimeout as delay } from 'node:timers/promises';
import { type Answer, ask, type Call } from './ask.ts';

// Callers that ask again and again, each kind of request by itself, and what they were answered.

/** The kinds of requests, by what a caller wants. */
export const KINDS = [
  ...['dashboard', 'session', 'sign-in', 'change', 'keys', 'analytics'],
  ...['models', 'chat', 'stream', 'health', 'readiness', 'google'],
] as const satisfies readonly string[];
export type Kind =
  | 'dashboard'
  | 'session'
  | 'sign-in'
  | 'change'
  | 'keys'
  | 'analytics'
  | 'models'
  | 'chat'
  | 'stream'
  | 'health'
  | 'readiness'
  | 'google';

export interface Caller {
  readonly kind: Kind;
  /** How many ask at the same time. */
  readonly atOnce: number;
  /** Between an answer and the next request. */
  readonly pauseMs: number;
  /** `number` is that of the request among all. */
  call(number: number): Call;
}

export interface Asked extends Answer {
  readonly kind: Kind;
  readonly number: number;
  /** By the clock of `performance.now`. */
  readonly startedAtMs: number;
  readonly endedAtMs: number;
}

export interface Load {
  /** Everything that was answered so far, in the order of the answers. */
  readonly asked: readonly Asked[];
  /** Ends after the answers to what is in flight. */
  stop(): Promise<void>;
}

let count = 0;

export function startLoad(callers: readonly Caller[]): Load {
  const asked: Asked[] = [];
  const stopping = new AbortController();
  const repeat = async ({ kind, pauseMs, call }: Caller) => {
    while (!stopping.signal.aborted) {
      count += 1;
      const number = count;
      const startedAtMs = performance.now();
      const answer = await ask(call(number));
      asked.push({ ...answer, kind, number, startedAtMs, endedAtMs: performance.now() });
      await delay(pauseMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };
  const over = Promise.all(
    callers.flatMap((caller) => Array.from({ length: caller.atOnce }, () => repeat(caller))),
  );
  return {
    asked,
    async stop() {
      stopping.abort();
      await over;
    },
  };
}
