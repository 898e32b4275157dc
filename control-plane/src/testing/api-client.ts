import assert from 'node:assert/strict';
import { request } from 'node:http';
import { ACCESS_COOKIE, type Endpoint, ERROR_BODIES, errorsOf, REFRESH_COOKIE } from '@gatehouse/contract';
import { z } from 'zod';

/** An answer as it came over the wire. */
export interface RawReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

export interface RawRequest {
  readonly method: string;
  /** From the root: `/api/keys?limit=1`. Sent as it is. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string | Buffer;
}

/** The input that a test gives for a request to an endpoint. */
export interface Given {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Calls the API over real HTTP and holds every answer against the contract. */
export class ApiClient {
  readonly #port: number;
  /** The session cookies it holds, by name. Tests may read and change them. */
  readonly cookies = new Map<string, string>();

  constructor(port: number) {
    this.#port = port;
  }

  /** A client of the same service with the same cookies. */
  copy(): ApiClient {
    const copy = new ApiClient(this.#port);
    for (const [name, value] of this.cookies) copy.cookies.set(name, value);
    return copy;
  }

  /** Calls and expects success; the reply's body, checked against the contract. */
  async call<E extends Endpoint>(endpoint: E, given: Given = {}): Promise<z.output<E['reply']>> {
    const reply = await this.send(endpoint, given);
    assert.equal(reply.status, endpoint.status, `${endpoint.name} answered ${reply.status} ${reply.text}`);
    return JSON.parse(reply.text) as z.output<E['reply']>;
  }

  /** Calls and expects a refusal; the reply's body. */
  async refused(endpoint: Endpoint, status: number, given: Given = {}): Promise<Record<string, unknown>> {
    const reply = await this.send(endpoint, given);
    assert.equal(reply.status, status, `${endpoint.name} answered ${reply.status} ${reply.text}`);
    return JSON.parse(reply.text) as Record<string, unknown>;
  }

  /** Calls an endpoint, keeps the cookies it sets, and fails on a status or a body that the endpoint does not declare. */
  async send(endpoint: Endpoint, given: Given = {}): Promise<RawReply> {
    const path = endpoint.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(given.params?.[name] ?? assert.fail(`${endpoint.name} needs ${name}`)),
    );
    const search = new URLSearchParams(
      Object.entries(given.query ?? {}).map(([name, value]): [string, string] => [name, String(value)]),
    ).toString();
    const body = given.body === undefined ? undefined : JSON.stringify(given.body);
    const reply = await this.raw({
      method: endpoint.method,
      path: `/api${path}${search && `?${search}`}`,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(this.cookies.size === 0 ? {} : { cookie: this.#cookieHeader() }),
        ...given.headers,
      },
      ...(body === undefined ? {} : { body }),
    });
    this.#keepCookies(reply);
    const parsed = replySchema(endpoint, reply).safeParse(JSON.parse(reply.text));
    assert.ok(
      parsed.success,
      `${endpoint.name} ${reply.status} does not fit the contract: ${parsed.error} ${reply.text}`,
    );
    return reply;
  }

  /** Sends anything. Headers with a list of values are sent as several lines. */
  raw({ method, path, headers = {}, body }: RawRequest): Promise<RawReply> {
    return new Promise((resolve, reject) => {
      const outgoing = request(
        { host: '127.0.0.1', port: this.#port, method, path, headers, agent: false },
        (incoming) => {
          const chunks: Buffer[] = [];
          incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
          incoming.on('error', reject);
          incoming.on('end', () =>
            resolve({
              status: incoming.statusCode ?? 0,
              headers: incoming.headers,
              text: Buffer.concat(chunks).toString('utf8'),
            }),
          );
        },
      );
      outgoing.on('error', reject);
      outgoing.end(body);
    });
  }

  #cookieHeader(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  #keepCookies(reply: RawReply): void {
    for (const line of [reply.headers['set-cookie'] ?? []].flat()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (name !== ACCESS_COOKIE && name !== REFRESH_COOKIE) continue;
      if (value) this.cookies.set(name, value);
      else this.cookies.delete(name);
    }
  }
}

/** The schema that the endpoint declares for the status of the reply; fails where it declares nothing. */
function replySchema(endpoint: Endpoint, { status, text }: RawReply): z.ZodType {
  if (status === endpoint.status) return endpoint.reply;
  const bodies = errorsOf(endpoint).filter((error) => error.status === status);
  assert.ok(bodies.length > 0, `${endpoint.name} does not declare that it answers ${status} ${text}`);
  return z.union(bodies.map(({ body }) => ERROR_BODIES[body]));
}
