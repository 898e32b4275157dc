import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '@gatehouse/concurrency';
import { DEFAULT_SURFACES, type Surface } from '@gatehouse/contract';
import type { ReaderPool } from '../readers/reader-pool.ts';
import type { Upstream, UpstreamCall, UpstreamListener } from '../upstreams/upstream.ts';
import type { Frame } from './echo-format.ts';
import { embeddingsEcho } from './embeddings-echo.ts';
import { type Answers, ECHO_FORMATS, type EchoRequest } from './read-echo.ts';

// A provider without a network: it answers with the caller's last message, so that a new user can send a first request,
// and try an agent, before having an account anywhere. It stands behind the same interface as an HTTP upstream and
// speaks every format, bytes and all, so nothing after it knows the difference.

export function createEcho(clock: Clock, readers: ReaderPool): Upstream {
  let answered = 0;
  return {
    send({ path, body, onBodySent }, listener) {
      const call = new EchoCall();
      const surface = surfaceAt(path);
      const { done } = readers.read('demo/echo', 'echo', surface, body);
      answered += 1;
      const epochMs = clock.epochMs();
      const made = {
        id: `echo${epochMs.toString(36)}${answered.toString(36)}`,
        createdSeconds: Math.floor(epochMs / 1000),
      };
      done
        .then(({ result }) => {
          onBodySent();
          return send(written(result, surface, made), call, listener);
        })
        .catch((error: Error) => {
          if (!call.isAborted) listener.onFailure(error);
        });
      return call;
    },
  };
}

function surfaceAt(path: string): Surface {
  for (const [surface, its] of DEFAULT_SURFACES.demo) if (its === path) return surface;
  throw new Error(`the echo has no ${path}`);
}

class EchoCall implements UpstreamCall {
  isAborted = false;
  #resumption: PromiseWithResolvers<void> | undefined;

  pause(): void {
    this.#resumption ??= Promise.withResolvers();
  }

  resume(): void {
    this.#resumption?.resolve();
    this.#resumption = undefined;
  }

  abort(): void {
    this.isAborted = true;
    this.resume();
  }

  /** Waits while paused and lets others run; whether to go on. */
  async mayGoOn(): Promise<boolean> {
    await nextTurn();
    await this.#resumption?.promise;
    return !this.isAborted;
  }
}

/** An answer as an HTTP server would give it. */
interface Written {
  readonly status: number;
  readonly contentType: string;
  readonly parts: Iterable<string>;
}

const JSON_TYPE = 'application/json';
const EVENTS_TYPE = 'text/event-stream; charset=utf-8';

async function send(
  { status, contentType, parts }: Written,
  call: EchoCall,
  to: UpstreamListener,
): Promise<void> {
  if (!(await call.mayGoOn())) return;
  to.onStart();
  if (!(await call.mayGoOn())) return;
  to.onHead(status, { 'content-type': contentType });
  for (const part of parts) {
    if (!(await call.mayGoOn())) return;
    to.onData(Buffer.from(part));
  }
  if (await call.mayGoOn()) to.onEnd();
}

type Made = Pick<Frame, 'id' | 'createdSeconds'>;

function written(request: EchoRequest, surface: Surface, made: Made): Written {
  switch (request.kind) {
    case 'answers':
      return answer(request, surface, made);
    case 'vectors':
      return { status: 200, contentType: JSON_TYPE, parts: embeddingsEcho(request.inputs, request) };
    case 'count':
      return json({ input_tokens: request.promptTokens });
    case 'unusable': {
      const { message, param } = request;
      const error = { message, type: 'invalid_request_error', param, code: 'invalid_value' };
      return { ...json({ error }), status: 400 };
    }
  }
}

function answer({ answers, isStream, ...request }: Answers, surface: Surface, made: Made): Written {
  const format = ECHO_FORMATS[surface];
  if (!format) throw new Error(`the echo does not answer ${surface}`);
  const frame: Frame = { ...request, ...made };
  if (!isStream) return json(format.whole(answers, frame));
  return { status: 200, contentType: EVENTS_TYPE, parts: format.events(answers, frame) };
}

function json(body: object): Written {
  return { status: 200, contentType: JSON_TYPE, parts: [JSON.stringify(body)] };
}
