import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Agent, type RequestOptions, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { AttackEnvironment } from './attack-environment.ts';

// The requests of an organisation with ordinary load, and their latencies.

export interface Felt {
  readonly apiMs: number[];
  readonly gatewayMs: number[];
  /** Turns of an agent, to the gateway. */
  readonly agentMs: number[];
  /** Answers other than 200, with their counts. */
  readonly failures: Map<string, number>;
  /** By how much each request was sent late: what the measuring process itself had to wait. */
  readonly lateMs: number[];
}

export const nothingFelt = (): Felt => ({
  apiMs: [],
  gatewayMs: [],
  agentMs: [],
  failures: new Map(),
  lateMs: [],
});

export interface Victim extends Disposable {
  /** One request to the API and one to the gateway, at once. */
  ask(felt: Felt): Promise<void>;
  /**
   * Sends requests at a fixed rate for the given time, to the API and to the gateway in turn, and now and then the turn of an
   * agent, without waiting for earlier answers.
   */
  feel(forMs: number): Promise<Felt>;
}

/** 50 requests a second to each: half of what the key may send, and enough for a p99 of ten seconds. */
const EVERY_MS = 10;
const LATE_MS = 10_000;
/** Five turns of an agent a second: large bodies, with a text that was not sent before. */
const AGENT_EVERY = 20;
const AGENT_CHARACTERS = 100_000;
const BODY = '{"model":"good/model","max_tokens":16,"messages":[{"role":"user","content":"Hello"}]}';

export function createVictim({ service, victim }: AttackEnvironment): Victim {
  const agent = new Agent({ keepAlive: true });
  const words = readFileSync(join(import.meta.dirname, '../../docs/gateway.md'), 'utf8').split(/\s+/);
  const agentTurn = () => {
    let content = '';
    while (content.length < AGENT_CHARACTERS) content += `${words[randomInt(words.length)]} `;
    return JSON.stringify({ model: 'good/model', max_tokens: 16, messages: [{ role: 'user', content }] });
  };
  const api: RequestOptions = {
    port: service.apiPort,
    path: '/api/keys',
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
  const askApi = (felt: Felt) => measure(felt, felt.apiMs, { ...api, headers: { cookie: victim.cookie } });
  const askGateway = (felt: Felt) => measure(felt, felt.gatewayMs, gateway, BODY);
  return {
    async ask(felt) {
      await Promise.all([askApi(felt), askGateway(felt)]);
    },
    async feel(forMs) {
      const felt = nothingFelt();
      const asked: Promise<void>[] = [];
      const beganAt = performance.now();
      for (let number = 0; number * EVERY_MS < forMs; number += 1) {
        const due = beganAt + number * EVERY_MS;
        await delay(Math.max(0, due - performance.now()));
        felt.lateMs.push(performance.now() - due);
        asked.push(number % 2 === 0 ? askApi(felt) : askGateway(felt));
        if (number % AGENT_EVERY === 0) asked.push(measure(felt, felt.agentMs, gateway, agentTurn()));
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
