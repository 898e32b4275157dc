import { Agent } from 'node:https';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { openHttps, type TlsAddress } from '../../https-client.ts';
import { isOfBalancer } from './balanced-client.ts';
import { promptOf } from './provider.ts';

/** The outcome of a model request, as its caller saw it. */
export type Outcome =
  /** 200, whole. */
  | 'served'
  /** Another status of a gateway: 401, 402, 429, 503. */
  | 'refused'
  /** 502 or 504 of the balancer: the request was sent to a node that did not answer. */
  | 'not answered'
  /** An answer that began and did not end. */
  | 'cut off'
  /** The balancer closed the connection, which was kept from an earlier request, before it read this one: a reload. A caller sends it
   *  again. */
  | 'not read';

export interface ModelRequest {
  readonly number: number;
  readonly outcome: Outcome;
  readonly status: number | undefined;
  /** The request id of the gateway that answered. */
  readonly requestId: string | undefined;
  readonly isStream: boolean;
  /** By `performance.now()`. */
  readonly sentAt: number;
  readonly endedAt: number;
}

/** Callers of the gateways over the balancer, with connections that they keep. */
export interface Callers extends Disposable {
  /** Everything that was sent, in the order of the ends. */
  readonly requests: readonly ModelRequest[];
  send(secret: string, model?: string): Promise<ModelRequest>;
  /** Each of so many callers sends one request after the other until the signal. */
  keepAsking(secret: string, callers: number, signal: AbortSignal, pauseMs?: number): Promise<void>;
}

const STREAM_EVERY = 4;
// The provider's bill is for all callers together.
let numbers = 0;

export function createCallers(at: TlsAddress): Callers {
  const agent = new Agent({ keepAlive: true });
  const requests: ModelRequest[] = [];
  const send = async (secret: string, model = 'mock/model'): Promise<ModelRequest> => {
    numbers += 1;
    const number = numbers;
    const isStream = number % STREAM_EVERY === 0;
    const sentAt = performance.now();
    const ended = await ask(secret, number, model, isStream);
    const request = { number, isStream, sentAt, endedAt: performance.now(), ...ended };
    requests.push(request);
    return request;
  };
  const ask = async (secret: string, number: number, model: string, isStream: boolean) => {
    let status: number | undefined;
    let requestId: string | undefined;
    try {
      const answer = await openHttps(at, {
        path: '/v1/chat/completions',
        agent,
        headers: { authorization: `Bearer ${secret}` },
        body: {
          model,
          max_completion_tokens: 10,
          stream: isStream,
          messages: [{ role: 'user', content: promptOf(number) }],
        },
      });
      status = answer.statusCode;
      requestId = answer.headers['x-request-id'] as string | undefined;
      const body = await text(answer);
      return { outcome: outcomeOf(answer, body, isStream), status, requestId };
    } catch {
      return {
        outcome: status === undefined ? ('not read' as const) : ('cut off' as const),
        status,
        requestId,
      };
    }
  };
  return {
    requests,
    send,
    async keepAsking(secret, callers, signal, pauseMs = 20) {
      await Promise.all(
        Array.from({ length: callers }, async () => {
          while (!signal.aborted) {
            await send(secret);
            await delay(pauseMs * Math.random());
          }
        }),
      );
    },
    [Symbol.dispose]: () => agent.destroy(),
  };
}

export function outcomeOf(
  answer: {
    readonly statusCode?: number | undefined;
    readonly headers: Record<string, string | string[] | undefined>;
  },
  body: string,
  isStream: boolean,
): Outcome {
  if (isOfBalancer(answer)) return 'not answered';
  if (answer.statusCode !== 200) return 'refused';
  return isStream && !body.includes('data: [DONE]') ? 'cut off' : 'served';
}

/** How many there are of each, as `3 refused with 503`. */
export function summary(requests: readonly ModelRequest[]): string {
  const counts = new Map<string, number>();
  for (const { outcome, status } of requests) {
    const what = outcome === 'refused' || outcome === 'not answered' ? `${outcome} (${status})` : outcome;
    counts.set(what, (counts.get(what) ?? 0) + 1);
  }
  return [...counts].map(([what, count]) => `${count} ${what}`).join(', ');
}
