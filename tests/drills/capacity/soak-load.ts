import { Agent, request } from 'node:http';
import type { SoakOrganization } from './soak-service.ts';
import { ROUTES } from './soak-service.ts';

// Requests to the gateway at a fixed rate of arrivals: a slow answer delays no later request.

/** The mix of 100 requests, and the status that each kind answers. */
const MIX = [
  { kind: 'chat', share: 57, status: 200 },
  { kind: 'stream', share: 20, status: 200 },
  { kind: 'messages', share: 7, status: 200 },
  // A caller of one format, a provider of the other.
  { kind: 'translated', share: 6, status: 200 },
  { kind: 'unknown key', share: 2, status: 401 },
  { kind: 'revoked key', share: 2, status: 401 },
  { kind: 'unknown model', share: 2, status: 404 },
  { kind: 'no credit', share: 2, status: 402 },
  { kind: 'over the rate', share: 2, status: 429 },
] as const;

type Kind = (typeof MIX)[number]['kind'];

const TICK_MS = 10;
// Arrivals beyond it are left out and counted, so that a machine that is busy with other programs builds up no queue here.
const MAX_IN_FLIGHT = 500;
const TIMEOUT_MS = 30_000;
const MAX_UNTIL_SPENT = 2_000;
const PROMPT =
  'Summarise what a control plane does, in two sentences, for an engineer who has never seen one. ';

export interface LoadCounts {
  sent: number;
  /** Arrivals that were left out because too many were in flight. */
  leftOut: number;
  answered: number;
  /** Answers by kind and status. */
  readonly statuses: Map<string, number>;
  /** Statuses that the mix does not expect, and connections that failed. */
  wrong: number;
  readonly latenciesMs: number[];
}

export interface Load {
  rate: number;
  readonly inFlight: () => number;
  /** Since the call before. */
  take(): LoadCounts;
  /** Stops new arrivals and waits for the answers. */
  stop(): Promise<void>;
}

const emptyCounts = (): LoadCounts => ({
  sent: 0,
  leftOut: 0,
  answered: 0,
  statuses: new Map(),
  wrong: 0,
  latenciesMs: [],
});

export function startLoad(
  gatewayPort: number,
  organizations: readonly SoakOrganization[],
  random: () => number,
): Load {
  const agent = new Agent({ keepAlive: true, maxSockets: 2_000, maxFreeSockets: 64, timeout: TIMEOUT_MS });
  let counts = emptyCounts();
  let open = 0;
  let due = 0;
  let last = performance.now();
  const hasDrained = Promise.withResolvers<void>();
  let isStopped = false;
  const load = {
    rate: 0,
    inFlight: () => open,
    take() {
      const taken = counts;
      counts = emptyCounts();
      return taken;
    },
    async stop() {
      isStopped = true;
      clearInterval(timer);
      if (open === 0) hasDrained.resolve();
      await hasDrained.promise;
      agent.destroy();
    },
  };

  const send = () => {
    const { kind, status: expected } = drawn(random() * 100);
    const from = organizations[Math.floor(random() * organizations.length)] as SoakOrganization;
    const { path, secret, body } = requestOf(kind, from, random);
    const startedAt = performance.now();
    const end = (status: number) => {
      open -= 1;
      counts.answered += 1;
      const key = `${kind}: ${status}`;
      counts.statuses.set(key, (counts.statuses.get(key) ?? 0) + 1);
      // The first request of a minute of a slow key is served.
      if (status !== expected && !(kind === 'over the rate' && status === 200)) counts.wrong += 1;
      counts.latenciesMs.push(performance.now() - startedAt);
      if (isStopped && open === 0) hasDrained.resolve();
    };
    open += 1;
    counts.sent += 1;
    let isEnded = false;
    const once = (status: number) => {
      if (isEnded) return;
      isEnded = true;
      end(status);
    };
    const outgoing = request(
      {
        host: '127.0.0.1',
        port: gatewayPort,
        method: 'POST',
        path,
        agent,
        headers: {
          authorization: `Bearer ${secret}`,
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
        },
      },
      (incoming) => {
        incoming.resume();
        incoming.on('end', () => once(incoming.statusCode ?? 0));
        incoming.on('error', () => once(-1));
        incoming.on('close', () => once(-1));
      },
    );
    outgoing.on('error', () => once(-1));
    outgoing.end(body);
  };

  const timer = setInterval(() => {
    const now = performance.now();
    due += ((now - last) / 1000) * load.rate;
    last = now;
    for (; due >= 1; due -= 1) {
      if (open < MAX_IN_FLIGHT) send();
      else counts.leftOut += 1;
    }
  }, TICK_MS);
  return load;
}

/** Spends what the key without credit may spend, so that all of its requests in the load are refused. */
export async function spendCredit(gatewayPort: number, from: SoakOrganization): Promise<void> {
  for (let number = 0; number < MAX_UNTIL_SPENT; number += 1) {
    const { path, secret, body } = requestOf('no credit', from, Math.random);
    const answer = await fetch(`http://127.0.0.1:${gatewayPort}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body,
    });
    await answer.arrayBuffer();
    if (answer.status === 402) return;
  }
  throw new Error(`a key with a limit of one cent was served ${MAX_UNTIL_SPENT} times`);
}

function drawn(at: number): (typeof MIX)[number] {
  let upTo = 0;
  for (const one of MIX) {
    upTo += one.share;
    if (at < upTo) return one;
  }
  return MIX[0];
}

function requestOf(kind: Kind, from: SoakOrganization, random: () => number) {
  const chat = (more: object = {}) =>
    JSON.stringify({
      model: ROUTES.chat,
      messages: [{ role: 'user', content: PROMPT.repeat(1 + Math.floor(random() * 8)) }],
      max_completion_tokens: 100,
      ...more,
    });
  const message = (model: string) =>
    JSON.stringify({ model, max_tokens: 100, messages: [{ role: 'user', content: PROMPT }] });
  const secret = from.secrets[Math.floor(random() * from.secrets.length)] ?? '';
  const completions = '/v1/chat/completions';
  switch (kind) {
    case 'chat':
      return { path: completions, secret, body: chat() };
    case 'stream':
      return { path: completions, secret, body: chat({ stream: true }) };
    case 'messages':
      return { path: '/v1/messages', secret, body: message(ROUTES.messages) };
    case 'translated':
      return { path: '/v1/messages', secret, body: message(ROUTES.chat) };
    case 'unknown key':
      return { path: completions, secret: `sk_svc_${'0'.repeat(32)}`, body: chat() };
    case 'revoked key':
      return { path: completions, secret: from.revokedSecret, body: chat() };
    case 'unknown model':
      return { path: completions, secret, body: chat({ model: 'soak/nothing' }) };
    case 'no credit':
      return { path: completions, secret: from.poorSecret, body: chat() };
    case 'over the rate':
      return { path: completions, secret: from.slowSecret, body: chat() };
  }
}
