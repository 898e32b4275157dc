import { Agent, type IncomingMessage, request } from 'node:http';
import { decimalFromMicroPkr } from '@gatehouse/contract';
import { type Choice, KnownKeys } from './key-choices.ts';
import type { Call } from './key-history.ts';
import { seeded } from './seeded.ts';

/** The target of the load. */
export interface Target {
  /** The ports of the API's processes. Clients are distributed over them. */
  readonly ports: readonly number[];
  readonly cookie: string;
  readonly projectId: string;
}

export interface Load {
  readonly clients: number;
  readonly requests: number;
  readonly seed: number;
}

/** Sends the requests, one at a time per client, and returns each with its answer. */
export async function changeKeys({ ports, cookie, projectId }: Target, load: Load): Promise<Call[]> {
  const agent = new Agent({ keepAlive: true });
  const random = seeded(load.seed);
  const known = new KnownKeys();
  const calls: Call[] = [];
  let next = 0;
  const one = async (port: number) => {
    const number = next;
    next += 1;
    const choice = known.choose(random);
    const startedAt = performance.now();
    const { status, text } = await send(agent, port, {
      ...asRequest(choice, projectId),
      headers: { cookie, 'x-forwarded-for': addressOf(number) },
    });
    const endedAt = performance.now();
    const body = JSON.parse(text) as Record<string, string>;
    const prefix = choice.kind === 'mint' ? (body['key_prefix'] ?? '') : choice.key.prefix;
    if (choice.kind === 'mint' && status === 201) known.minted({ id: body['id'] ?? '', prefix });
    const limitMicroPkr = choice.kind === 'revoke' ? null : choice.limitMicroPkr;
    const error = status < 300 ? '' : (body['error'] ?? text);
    calls.push({ number, kind: choice.kind, prefix, limitMicroPkr, startedAt, endedAt, status, error });
  };
  try {
    await Promise.all(
      Array.from({ length: load.clients }, async (_, client) => {
        while (next < load.requests) await one(ports[client % ports.length] ?? 0);
      }),
    );
  } finally {
    agent.destroy();
  }
  return calls;
}

/** A unique source address, which identifies the request's activity entry. */
function addressOf(number: number): string {
  return `10.${number >> 16}.${(number >> 8) & 255}.${number & 255}`;
}

/** The number of the request with this address. */
export function numberOf(address: string): number {
  const [, high = 0, middle = 0, low = 0] = address.split('.').map(Number);
  return (high << 16) + (middle << 8) + low;
}

function asRequest(choice: Choice, projectId: string) {
  if (choice.kind === 'revoke') return { method: 'DELETE', path: `/api/keys/${choice.key.id}` };
  const { limitMicroPkr } = choice;
  if (choice.kind === 'mint') {
    const limit = limitMicroPkr === null ? '' : `,"credit_limit_cents":${limitMicroPkr}`;
    return { method: 'POST', path: '/api/keys', body: `{"project_id":"${projectId}","name":"k"${limit}}` };
  }
  const limit = limitMicroPkr === null ? '' : `,"credit_limit_pkr":${decimalFromMicroPkr(limitMicroPkr)}`;
  return {
    method: 'PATCH',
    path: `/api/keys/${choice.key.id}`,
    body: `{"rate_limit_rpm":60${limit}}`,
  };
}

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly body?: string;
  readonly headers: Record<string, string>;
}

function send(agent: Agent, port: number, { body, headers, ...rest }: Sent) {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>();
  const type = body === undefined ? {} : { 'content-type': 'application/json' };
  const outgoing = request({ host: '127.0.0.1', port, ...rest, agent, headers: { ...headers, ...type } });
  outgoing.on('response', (incoming: IncomingMessage) => {
    let text = '';
    incoming.setEncoding('utf8');
    incoming.on('data', (chunk: string) => {
      text += chunk;
    });
    incoming.on('error', reject);
    incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, text }));
  });
  outgoing.on('error', reject);
  outgoing.end(body);
  return promise;
}
