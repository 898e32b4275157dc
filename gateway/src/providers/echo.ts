import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '@gatehouse/concurrency';
import { DEFAULT_SURFACES, type Surface } from '@gatehouse/contract';
import type { ByteBudget } from '../bodies/byte-budget.ts';
import { KeptBytes } from '../bodies/kept-bytes.ts';
import type { Frame } from '../demo/echo-format.ts';
import { embeddingsEcho } from '../demo/embeddings-echo.ts';
import { type Answers, ECHO_FORMATS, type EchoRequest } from '../demo/read-echo.ts';
import { ReadError, type ReadFailure } from '../readers/reader-lane.ts';
import type { ReaderPool } from '../readers/reader-pool.ts';
import type { ReadResult } from '../readers/reads.ts';
import type { UpstreamHeaders } from '../wire/headers.ts';
import type { Upstream, UpstreamCall, UpstreamListener } from './upstream.ts';

// A provider without a network: it answers with the caller's last message, so that a new user can send a first request,
// and try an agent, before having an account anywhere. It stands behind the same interface as an HTTP upstream and
// speaks OpenAI's formats, bytes and all, so nothing after it knows the difference. Callers of other formats get its chat, translated.
//
// A provider keeps its answer until the caller has read it. So does this one, in the memory that the answers of all providers share.

export function createEcho(clock: Clock, readers: ReaderPool, bodies: ByteBudget): Upstream {
  let answered = 0;
  return {
    send({ owner, path, body, onBodySent }, listener) {
      const surface = surfaceAt(path);
      const reading = readers.read(owner, 'echo', surface, body);
      const call = new EchoCall(() => reading.cancel(new Error('aborted by the gateway')));
      answered += 1;
      const epochMs = clock.epochMs();
      const made = {
        id: `echo${epochMs.toString(36)}${answered.toString(36)}`,
        createdSeconds: Math.floor(epochMs / 1000),
      };
      const kept = new KeptBytes(bodies, owner);
      reading.done
        .then((read) => (kept.set(bytesOf(read)) ? written(read, surface, made) : tooMany()), unread)
        .then((answer) => {
          onBodySent();
          return send(answer, call, listener);
        })
        .catch((error: Error) => {
          if (!call.isAborted) listener.onFailure(error);
        })
        .finally(() => kept.set(0));
      return call;
    },
  };
}

function surfaceAt(path: string): Surface {
  for (const [surface, its] of DEFAULT_SURFACES.demo) if (its === path) return surface;
  throw new Error(`the echo has no ${path}`);
}

class EchoCall implements UpstreamCall {
  readonly #onAbort: () => void;
  isAborted = false;
  #resumption: PromiseWithResolvers<void> | undefined;

  constructor(onAbort: () => void) {
    this.#onAbort = onAbort;
  }

  pause(): void {
    this.#resumption ??= Promise.withResolvers();
  }

  resume(): void {
    this.#resumption?.resolve();
    this.#resumption = undefined;
  }

  abort(): void {
    this.isAborted = true;
    this.#onAbort();
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
  readonly headers: UpstreamHeaders;
  readonly parts: Iterable<string>;
}

const JSON_TYPE = { 'content-type': 'application/json' };
const EVENTS_TYPE = { 'content-type': 'text/event-stream; charset=utf-8' };

async function send(
  { status, headers, parts }: Written,
  call: EchoCall,
  to: UpstreamListener,
): Promise<void> {
  if (!(await call.mayGoOn())) return;
  to.onStart();
  if (!(await call.mayGoOn())) return;
  to.onHead(status, headers);
  for (const part of parts) {
    if (!(await call.mayGoOn())) return;
    to.onData(Buffer.from(part));
  }
  if (await call.mayGoOn()) to.onEnd();
}

function unread(error: unknown): Written {
  if (error instanceof ReadError && BUSY.has(error.failure)) return tooMany();
  throw error;
}

const BUSY: ReadonlySet<ReadFailure> = new Set(['queue_full', 'not_begun_in_time']);

/** If an organisation has more of the echo waiting than there is time or memory for, it is answered as a provider would. */
function tooMany(): Written {
  const message = 'Too many requests of your organization wait for this model. Try again in a moment.';
  const refusal = json({
    error: { message, type: 'rate_limit_error', param: null, code: 'rate_limit_exceeded' },
  });
  return { ...refusal, status: 429, headers: { ...refusal.headers, 'retry-after': '1' } };
}

/** The bytes that an answer keeps in memory until it is sent: two a character. */
function bytesOf({ result, body }: ReadResult<EchoRequest>): number {
  return result.kind === 'answers' ? 2 * result.characters : body.length;
}

function vectorsIn({ buffer, byteOffset, length }: Buffer): Float32Array {
  return new Float32Array(buffer, byteOffset, length / Float32Array.BYTES_PER_ELEMENT);
}

type Made = Pick<Frame, 'id' | 'createdSeconds'>;

function written({ result: request, body }: ReadResult<EchoRequest>, surface: Surface, made: Made): Written {
  switch (request.kind) {
    case 'answers':
      return answer(request, surface, made);
    case 'vectors':
      return { status: 200, headers: JSON_TYPE, parts: embeddingsEcho(vectorsIn(body), request) };
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
  return { status: 200, headers: EVENTS_TYPE, parts: format.events(answers, frame) };
}

function json(body: object): Written {
  return { status: 200, headers: JSON_TYPE, parts: [JSON.stringify(body)] };
}
