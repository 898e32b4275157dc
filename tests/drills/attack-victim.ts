import { Agent, type RequestOptions, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { AttackEnvironment } from './attack-environment.ts';

// The requests of an organisation with ordinary load, and their latencies.

export interface Felt {
  readonly apiMs: number[];
  readonly gatewayMs: number[];
  /** Answers other than 200, with their counts. */
  readonly failures: Map<string, number>;
}

export const nothingFelt = (): Felt => ({ apiMs: [], gatewayMs: [], failures: new Map() });

export interface Victim extends Disposable {
  /** One request to the API and one to the gateway, at once. */
  ask(felt: Felt): Promise<void>;
  /** Sends requests at a fixed rate for the given time, without waiting for earlier answers. */
  feel(forMs: number): Promise<Felt>;
}

const EVERY_MS = 40;
const LATE_MS = 10_000;
const BODY = '{"model":"good/model","max_tokens":16,"messages":[{"role":"user","content":"Hello"}]}';

export function createVictim({ service, victim }: AttackEnvironment): Victim {
  const agent = new Agent({ keepAlive: true });
  const api: RequestOptions = {
    port: service.apiPort,
    path: '/api/keys',
    headers: { cookie: victim.cookie },
  };
  const gateway: RequestOptions = {
    port: service.gatewayPort,
    path: '/v1/chat/completions',
    method: 'POST',
    headers: { authorization: `Bearer ${victim.secret}`, 'content-type': 'application/json' },
  };
  const measure = async (felt: Felt, into: number[], options: RequestOptions, body?: string) => {
    const beganAt = performance.now();
    const status = await statusOf({ host: '127.0.0.1', agent, ...options }, body);
    into.push(performance.now() - beganAt);
    if (status !== '200') felt.failures.set(status, (felt.failures.get(status) ?? 0) + 1);
  };
  const ask = async (felt: Felt) => {
    await Promise.all([measure(felt, felt.apiMs, api), measure(felt, felt.gatewayMs, gateway, BODY)]);
  };
  return {
    ask,
    async feel(forMs) {
      const felt = nothingFelt();
      const asked: Promise<void>[] = [];
      const beganAt = performance.now();
      for (let due = beganAt; due < beganAt + forMs; due += EVERY_MS) {
        await delay(Math.max(0, due - performance.now()));
        asked.push(ask(felt));
      }
      await Promise.all(asked);
      return felt;
    },
    [Symbol.dispose]: () => agent.destroy(),
  };
}

/** The status, or the reason that there was none. */
function statusOf(options: RequestOptions, body: string | undefined): Promise<string> {
  return new Promise((resolve) => {
    const sent = request({ ...options, signal: AbortSignal.timeout(LATE_MS) }, (response) => {
      response.on('error', () => resolve('cut'));
      response.resume().on('end', () => resolve(String(response.statusCode)));
    });
    sent.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.name));
    sent.end(body);
  });
}
