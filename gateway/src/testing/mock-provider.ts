import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { within } from '../journal/testing/wait-until.ts';

const LIMIT_MS = 30_000;

/** The request that the provider got. */
export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Record<string, unknown>;
  /** The body as it came. */
  readonly text: string;
  /** Resolves when the connection of this request ends before its answer did. */
  readonly aborted: Promise<void>;
}

/** Writes the answer. The response is Node's own, so that an answer can be as wrong as a test wants. */
export type Script = (response: ServerResponse, asked: Asked) => void | Promise<void>;

/** A model provider on a real socket, that answers as its script says. */
export interface MockProvider extends AsyncDisposable {
  /** The base URL to put into a provider's row. */
  readonly baseUrl: string;
  readonly asked: Asked[];
  script: Script;
  /** Resolves with the next request, from now on. Throws when there is none within 30 seconds. */
  next(): Promise<Asked>;
}

export async function startMockProvider(
  script: Script = json(completion('Hello there.')),
  host = '127.0.0.1',
): Promise<MockProvider> {
  const asked: Asked[] = [];
  const waiting: ((one: Asked) => void)[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const aborted = new Promise<void>((resolve) => {
      response.on('close', () => {
        if (!response.writableFinished) resolve();
      });
    });
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const one: Asked = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body: JSON.parse(text) as Record<string, unknown>,
      text,
      aborted,
    };
    asked.push(one);
    for (const resolve of waiting.splice(0)) resolve(one);
    await mock.script(response, one);
  };
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const mock: MockProvider = {
    baseUrl: `http://${host}:${(server.address() as AddressInfo).port}/v1`,
    asked,
    script,
    next() {
      const next = new Promise<Asked>((resolve) => waiting.push(resolve));
      const bounded = within('a request to the provider', LIMIT_MS, next);
      // A test that fails before it waits has already said why.
      bounded.catch(() => undefined);
      return bounded;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return mock;
}

export function json(body: unknown, status = 200, headers: Record<string, string> = {}): Script {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
}

/** An event stream sent in these pieces, each in a packet of its own. */
export function sse(...pieces: readonly (string | Buffer)[]): Script {
  return async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    for (const piece of pieces) await flush(response, piece);
    response.end();
  };
}

/** Writes and waits until the bytes have left. */
export async function flush(response: ServerResponse, piece: string | Buffer): Promise<void> {
  await new Promise<void>((resolve) => {
    response.write(piece, () => resolve());
  });
  await new Promise((resolve) => setImmediate(resolve));
}

export function completion(content: string, usage?: { prompt: number; completion: number }): object {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_790_000_000,
    model: 'upstream-model-2026-01-01',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content, refusal: null },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    ...(usage && { usage: usageOf(usage) }),
  };
}

/** One event of a stream, with its blank line. */
export function chunk(members: object, ending = '\n\n'): string {
  return `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_790_000_000, model: 'upstream-model', ...members })}${ending}`;
}

export function delta(content: string, finishReason: string | null = null): object {
  return { choices: [{ index: 0, delta: content === '' ? {} : { content }, finish_reason: finishReason }] };
}

export function usageOf({ prompt, completion: generated }: { prompt: number; completion: number }): object {
  return { prompt_tokens: prompt, completion_tokens: generated, total_tokens: prompt + generated };
}

export const DONE = 'data: [DONE]\n\n';
