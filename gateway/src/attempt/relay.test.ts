import assert from 'node:assert/strict';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, afterEach, beforeEach, describe, it } from 'node:test';
import { providerFlags, type RequestId } from '@gatehouse/contract';
import { pino } from 'pino';
import { ByteBudget } from '../bodies/byte-budget.ts';
import { HeldBody } from '../bodies/held-body.ts';
import type { GatewayKey } from '../catalogue/queries.ts';
import type { Route, Target } from '../catalogue/route.ts';
import { type Outcome, workOf } from '../context/outcome.ts';
import { basisOf } from '../credit/billing.ts';
import { finish } from '../exchange/answers.ts';
import { Exchange } from '../exchange/exchange.ts';
import { ReadOns } from '../exchange/read-ons.ts';
import type { Upstream, UpstreamListener } from '../providers/upstream.ts';
import { createReaderPool } from '../readers/reader-pool.ts';
import type { PermittedCandidate } from '../routing/candidate.ts';
import { createManualTime } from '../testing/manual-time.ts';
import { chunk, completion, DONE, delta } from '../testing/mock-provider.ts';
import { callsOf } from '../testing/test-call.ts';
import { prepare } from './prepare.ts';
import { Relay } from './relay.ts';
import { MAX_ANSWER_BYTES } from './whole-answer.ts';

const target: Target = {
  provider: {
    name: 'mock',
    protocol: 'openai',
    baseUrl: null,
    surfaces: new Map([
      ['chat', '/chat/completions'],
      ['embeddings', '/embeddings'],
    ]),
    credentials: [],
    outputLimit: 'max_completion_tokens',
    flags: providerFlags('openai', {}),
    deny: [],
    allow: [],
  },
  upstreamModel: 'up',
  inputMicroPkrPerMillion: 1n,
  outputMicroPkrPerMillion: 1n,
  cacheWriteMicroPkrPerMillion: 0n,
  cacheReadMicroPkrPerMillion: 0n,
  cacheWrite1hMicroPkrPerMillion: 0n,
  priceTiers: [],
  microPkrPerCall: new Map(),
  byokFeeMillionths: 0n,
  priority: 1,
  weight: 1,
};
const route: Route = {
  id: 'mock/model',
  targets: [target],
  endpoints: ['chat', 'embeddings'],
  vaultRecords: new Map(),
  allow: [],
  maxOutputTokens: 10,
  defaultOutputTokens: 10,
  minOutputTokens: 10,
  maxInputTokens: null,
  timeoutMs: 1_000,
  maxAttempts: 3,
  attemptTimeoutMs: null,
  queueMs: 0,
};
const newCalls = {
  chat: await callsOf('chat', { stream: true, messages: [{ role: 'user', content: 'Hi' }] }),
  embeddings: await callsOf('embeddings', { input: 'Hi' }),
};

/** A piece of an answer that comes whole, or an event. */
const pieceOf = (contentType: string) =>
  contentType === 'application/json'
    ? Buffer.alloc(16_000, 'x')
    : Buffer.from(chunk(delta('x'.repeat(16_000))));

describe('the relay of an answer', () => {
  const time = createManualTime();
  const bodies = new ByteBudget(16_000_000, 16_000_000);
  const log = pino({ level: 'silent' });
  const readers = createReaderPool({
    ...time,
    log,
    largestBodyBytes: MAX_ANSWER_BYTES,
  });
  after(() => readers.close());
  const dependencies = { ...time, log, bodies, readOns: new ReadOns(), readers };
  let server: Server;
  let upstream: Upstream;
  let surface: keyof typeof newCalls;
  let answering: ServerResponse;
  let outcomes: Promise<Outcome>[];
  let streamError: () => Buffer;
  let aborts = 0;
  const onAbort = () => {
    aborts += 1;
  };
  beforeEach(async () => {
    surface = 'chat';
    outcomes = [];
    streamError = () => Buffer.from('data: {}\n\n');
    aborts = 0;
    server = createServer((request, response) => {
      answering = response;
      const exchange = new Exchange('id' as RequestId, request, response, time.clock, false, time.timers);
      const heldBody = new HeldBody({ bodies, smallBodies: new ByteBudget(0, 0) }, '');
      const call = newCalls[surface]();
      const context = {
        key: { organizationId: '' } as GatewayKey,
        rate: { isAllowed: true, limit: 1, remaining: 1, resetMs: 0, retryAfterMs: 0 },
        endpoint: surface,
        call,
        route,
        heldBody,
      } as const;
      const candidate = {
        target,
        credential: undefined,
        isByok: false,
        apiKey: undefined,
        upstream,
        surface,
        providerCall: call,
        translation: undefined,
        droppedTools: new Set<string>(),
      } as Partial<PermittedCandidate> as PermittedCandidate;
      const limits = {
        timeoutMs: route.timeoutMs,
        canBeFollowed: false,
        contentTimeoutMs: undefined,
        onContent: () => {},
      };
      const sending = { candidate, outputCap: 5, loweredOutputCap: undefined, keptBytes: 0 };
      const prepared = prepare(context, sending, exchange);
      const outgoing = { ...prepared.outgoing, streamError: () => streamError() };
      const sent = { ...prepared, outgoing };
      const outcome = new Relay({ ...context, sent }, exchange, dependencies, limits).run();
      outcomes.push(outcome);
      outcome.then(
        (end) => finish(exchange, end.kind === 'streamed' ? end.tail : Buffer.from('aborted')),
        () => response.destroy(),
      );
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    assert.equal(time.pending, 0);
  });
  const ask = (init: RequestInit = {}) =>
    fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, init);

  it('pauses the provider while the caller takes nothing, resumes it after, and loses no byte', async () => {
    const event = Buffer.from(chunk(delta('x'.repeat(60_000))));
    const events = 200;
    let sent = 0;
    let sentAtFirstPause = 0;
    let isPaused = false;
    upstream = {
      send(_request, listener) {
        const go = () => {
          while (!isPaused && sent < events) {
            sent += 1;
            listener.onData(event);
          }
          if (sent < events) return;
          listener.onData(Buffer.from(DONE));
          listener.onEnd();
        };
        queueMicrotask(() => {
          listener.onStart();
          listener.onHead(200, { 'content-type': 'text/event-stream' });
          go();
        });
        return {
          pause() {
            isPaused = true;
            sentAtFirstPause ||= sent;
          },
          resume() {
            if (!isPaused) return;
            isPaused = false;
            go();
          },
          abort: () => assert.fail('aborted'),
        };
      },
    };
    const response = await ask();
    assert.ok(sentAtFirstPause > 0 && sentAtFirstPause < 10, `paused after ${sentAtFirstPause}`);
    assert.equal((await response.arrayBuffer()).byteLength, events * event.length + DONE.length);
    assert.equal((await outcomes[0])?.kind, 'streamed');
  });

  for (const [title, contentType, most] of [
    ['a whole answer', 'application/json', 512 * 1024],
    ['a stream', 'text/event-stream', 64 * 1024],
  ] as const) {
    it(`pauses ${title} that is faster than any model, so that it leaves the main thread to others`, async () => {
      const event = pieceOf(contentType);
      let sentBytes = 0;
      upstream = {
        send(_request, listener) {
          let isPaused = false;
          const fail = () => listener.onFailure(new Error('enough'));
          queueMicrotask(() => {
            listener.onStart();
            listener.onHead(200, { 'content-type': contentType });
            while (!isPaused && sentBytes < 8 * most) {
              sentBytes += event.length;
              listener.onData(event);
            }
            fail();
          });
          return {
            pause() {
              isPaused = true;
            },
            resume() {},
            abort() {},
          };
        },
      };
      await (await ask()).text();
      await outcomes[0];
      // What is free at once, an organisation's share of one interval, and the event that was too much.
      assert.ok(sentBytes >= most / 2 && sentBytes <= most + 96 * 1024 + event.length, `${sentBytes}`);
    });
  }

  /** How often the provider is paused in an answer whose pieces come so, with a caller that is never what is waited for. */
  const pausesOf = async (
    contentType: string,
    pieces: (give: (piece: Buffer) => Promise<void>) => Promise<void>,
  ): Promise<number> => {
    let pauses = 0;
    upstream = {
      send(_request, listener) {
        const sendAll = async () => {
          listener.onStart();
          listener.onHead(200, { 'content-type': contentType });
          await pieces(async (piece) => {
            listener.onData(piece);
            while (answering.writableLength > 0) await new Promise((resolve) => setImmediate(resolve));
          });
          listener.onFailure(new Error('enough'));
        };
        queueMicrotask(sendAll);
        return {
          pause() {
            pauses += 1;
          },
          resume() {},
          abort() {},
        };
      },
    };
    await (await ask()).arrayBuffer();
    await outcomes[0];
    return pauses;
  };

  for (const [title, contentType, pieces] of [
    ['a whole answer', 'application/json', 16],
    ['a stream', 'text/event-stream', 3],
  ] as const) {
    it(`never pauses ${title} of ${pieces * 16} kB a second`, async () => {
      const event = pieceOf(contentType);
      const pauses = await pausesOf(contentType, async (give) => {
        for (let second = 0; second < 20; second += 1) {
          for (let piece = 0; piece < pieces; piece += 1) await give(Buffer.from(event));
          time.advance(1_000);
        }
      });
      assert.equal(pauses, 0);
    });
  }

  it('pauses the provider while there is no room, and resumes it with the first bytes after there is', async () => {
    const piece = Buffer.alloc(128 * 1024, ' ');
    const told: string[] = [];
    upstream = {
      send(_request, listener) {
        queueMicrotask(() => {
          listener.onStart();
          listener.onHead(200, { 'content-type': 'application/json' });
          // The organisation's own share.
          let takenBytes = 0;
          while (bodies.take('', piece.length)) takenBytes += piece.length;
          listener.onData(Buffer.from(piece));
          bodies.give('', takenBytes);
          told.push('room');
          listener.onData(Buffer.from(piece));
          listener.onFailure(new Error('enough'));
        });
        return {
          pause: () => void told.push('pause'),
          resume: () => void told.push('resume'),
          abort() {},
        };
      },
    };
    await (await ask()).arrayBuffer();
    await outcomes[0];
    assert.deepEqual(told, ['pause', 'room', 'resume']);
  });

  it('frees the memory of a whole answer: each piece once it is taken, all of it once it is sent', async () => {
    const answer = JSON.stringify(completion('x'.repeat(200_000), { prompt: 1, completion: 1 }));
    const pieces = Array.from({ length: Math.ceil(answer.length / 65_536) }, (_, at) =>
      Buffer.from(new TextEncoder().encode(answer.slice(at * 65_536, (at + 1) * 65_536)).buffer),
    );
    upstream = {
      send(_request, listener) {
        queueMicrotask(() => {
          listener.onStart();
          listener.onHead(200, { 'content-type': 'application/json' });
          for (const piece of pieces) listener.onData(piece);
          listener.onEnd();
        });
        return { pause() {}, resume() {}, abort() {} };
      },
    };
    const closed = Promise.withResolvers<void>();
    server.once('request', (_request, response) => response.once('close', closed.resolve));
    await (await ask()).arrayBuffer();
    // The first may be all of a small answer, which is left to the collector.
    assert.deepEqual(new Set(pieces.slice(1).map(({ length }) => length)), new Set([0]));
    const outcome = (await outcomes[0]) ?? assert.fail();
    assert.ok(outcome.kind === 'answered');
    await closed.promise;
    assert.equal(outcome.body.length, 0);
  });

  for (const [title, places] of [
    ['is read on for its usage', 0],
    ['is not, because too many are', 128],
  ] as const) {
    it(`frees a whole answer whose caller leaves, where it ${title}`, async () => {
      const owner = '';
      for (let taken = 0; taken < places; taken += 1) assert.ok(dependencies.readOns.take(owner));
      const pieceBytes = 64 * 1024;
      const heldBytes = 4_000_000;
      const held = Promise.withResolvers<UpstreamListener>();
      upstream = {
        send(_request, listener) {
          queueMicrotask(() => {
            listener.onStart();
            listener.onHead(200, { 'content-type': 'application/json' });
            for (let sent = 0; sent < heldBytes; sent += pieceBytes) listener.onData(ownPiece(pieceBytes));
            held.resolve(listener);
          });
          return { pause() {}, resume() {}, abort() {} };
        },
      };
      const leaving = new AbortController();
      const left = Promise.withResolvers<void>();
      server.once('request', (_request, response) => response.once('close', left.resolve));
      const answer = ask({ signal: leaving.signal });
      const listener = await held.promise;
      const before = process.memoryUsage().arrayBuffers;
      leaving.abort();
      await assert.rejects(answer);
      await left.promise;
      // A piece in each turn.
      for (let turn = 0; turn < heldBytes / pieceBytes + 2; turn += 1)
        await new Promise((resolve) => setImmediate(resolve));
      assert.ok(before - process.memoryUsage().arrayBuffers >= heldBytes * 0.9);
      if (places === 0) {
        const later = ownPiece(pieceBytes);
        listener.onData(later);
        await Promise.resolve();
        assert.equal(later.length, 0);
        listener.onEnd();
      }
      assert.equal((await outcomes[0])?.kind, 'aborted');
      for (let taken = 0; taken < places; taken += 1) dependencies.readOns.give(owner);
    });
  }

  it('does not slow down two megabytes of vectors, which are looked through and not parsed', async () => {
    surface = 'embeddings';
    const piece = Buffer.alloc(16 * 1024, '1,');
    const pauses = await pausesOf('application/json', async (give) => {
      await give(Buffer.from('{"data":[{"embedding":['));
      for (let sent = 0; sent < 2 * 1024 ** 2; sent += piece.length) await give(piece);
    });
    assert.equal(pauses, 0);
  });

  it('bills nothing when the caller leaves before the provider could have seen the request', async () => {
    const { promise: isSent, resolve: sent } = Promise.withResolvers<void>();
    upstream = {
      send() {
        sent();
        return { pause() {}, resume() {}, abort: onAbort };
      },
    };
    const leaving = new AbortController();
    const answer = ask({ signal: leaving.signal });
    await isSent;
    leaving.abort();
    await assert.rejects(answer);
    const outcome = (await outcomes[0]) ?? assert.fail();
    assert.equal(outcome.kind, 'aborted');
    assert.equal(basisOf(workOf(outcome)), 'nothing');
    assert.equal(aborts, 1);
  });

  it('hears only the first of several ends', async () => {
    let listener: UpstreamListener | undefined;
    const { promise: isSent, resolve: sent } = Promise.withResolvers<void>();
    upstream = {
      send(_request, to) {
        listener = to;
        sent();
        return { pause() {}, resume() {}, abort: onAbort };
      },
    };
    const answer = ask();
    await isSent;
    time.fire(1_000);
    listener?.onHead(200, { 'content-type': 'text/event-stream' });
    listener?.onData(Buffer.from(chunk(delta('late'))));
    listener?.onFailure(new Error('late'));
    listener?.onEnd();
    assert.equal(await (await answer).text(), 'aborted');
    const outcome = await outcomes[0];
    assert.ok(outcome?.kind === 'refused' && outcome.error.code === 'upstream_timeout');
    assert.equal(aborts, 1);
  });

  it('ends at once when the provider fails before it has returned', async () => {
    upstream = {
      send(_request, listener) {
        listener.onFailure(Object.assign(new Error('no'), { code: 'ECONNREFUSED' }));
        return { pause() {}, resume() {}, abort() {} };
      },
    };
    await (await ask()).text();
    const outcome = await outcomes[0];
    assert.ok(outcome?.kind === 'refused' && outcome.error.upstreamError === 'the connection was refused');
  });

  it('rejects for an internal error, and lets go of the provider', async () => {
    upstream = {
      send(_request, listener) {
        queueMicrotask(() => {
          listener.onHead(200, { 'content-type': 'text/event-stream' });
          // Not a buffer: as wrong as a bug.
          listener.onData(1 as unknown as Buffer);
        });
        return { pause() {}, resume() {}, abort: onAbort };
      },
    };
    await ask()
      .then((response) => response.text())
      .catch(() => {});
    await assert.rejects(outcomes[0] ?? Promise.resolve(), TypeError);
    assert.equal(aborts, 1);
  });

  it('rejects for an internal error while it ends, too', { timeout: 10_000 }, async () => {
    upstream = {
      send(_request, listener) {
        queueMicrotask(() => {
          listener.onStart();
          listener.onHead(200, { 'content-type': 'text/event-stream' });
          // The last event of a stream cannot be made.
          const broken = () => {
            throw new RangeError('no last event');
          };
          streamError = broken;
          listener.onFailure(new Error('broken'));
        });
        return { pause() {}, resume() {}, abort: onAbort };
      },
    };
    await ask()
      .then((response) => response.text())
      .catch(() => {});
    await assert.rejects(outcomes[0] ?? Promise.resolve(), RangeError);
  });
});

/** Bytes in memory that holds nothing else, as a connection brings them. */
function ownPiece(bytes: number): Buffer {
  return Buffer.from(new ArrayBuffer(bytes)).fill('x');
}
