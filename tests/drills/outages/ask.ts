import { type Agent, request } from 'node:http';

/** A request of a caller. */
export interface Call {
  readonly port: number;
  readonly method: 'GET' | 'POST' | 'PATCH';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** The end of a complete answer, where its status comes before it is complete. */
  readonly end?: string;
}

/** The outcome of a request. */
export interface Answer {
  /** 0 if the connection broke or nothing came in time. */
  readonly status: number;
  /** Why not: the error's code or its first words; undefined for a complete answer of success. */
  readonly failure: string | undefined;
  readonly requestId: string | undefined;
  readonly tookMs: number;
  readonly text: string;
}

/** After this a caller has been left without an answer. */
export const HUNG_MS = 90_000;
export const HUNG = 'no answer';

const MAX_FAILURE_LENGTH = 60;

/** Sends it on a connection of its own and reads the answer to its end. Never throws. */
export function ask(call: Call, agent: Agent | false = false): Promise<Answer> {
  const { port, method, path, headers = {}, end } = call;
  const body = call.body === undefined ? undefined : JSON.stringify(call.body);
  const startedAt = performance.now();
  return new Promise((resolve) => {
    const finish = (status: number, failure: string | undefined, text = '', requestId?: string) => {
      clearTimeout(timer);
      outgoing.destroy();
      resolve({ status, failure, text, requestId, tookMs: performance.now() - startedAt });
    };
    const outgoing = request({
      ...{ host: '127.0.0.1', port, method, path, agent },
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    });
    const timer = setTimeout(() => finish(0, HUNG), HUNG_MS);
    outgoing.on('error', (error: NodeJS.ErrnoException) => finish(0, error.code ?? error.message));
    outgoing.on('response', (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('error', (error: NodeJS.ErrnoException) => finish(0, error.code ?? error.message));
      incoming.on('end', () => {
        const status = incoming.statusCode ?? 0;
        const text = Buffer.concat(chunks).toString();
        const isWhole = status < 400 && (end === undefined || text.trimEnd().endsWith(end));
        const requestId = incoming.headers['x-request-id'];
        finish(status, isWhole ? undefined : failureOf(text), text, [requestId].flat()[0]);
      });
    });
    outgoing.end(body);
  });
}

/** A few words of an error answer, or of the event that ended a stream. */
function failureOf(text: string): string {
  const found = /"code":"([^"]+)"/.exec(text) ?? /"(?:error|message|reason)":"([^"]+)"/.exec(text);
  return (found?.[1] ?? text.trim().slice(-MAX_FAILURE_LENGTH)).slice(0, MAX_FAILURE_LENGTH) || 'incomplete';
}
