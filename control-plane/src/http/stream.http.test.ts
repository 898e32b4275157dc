import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { describe, it } from 'node:test';
import { ACCESS_COOKIE, ApiError, analytics, type OrganizationId, type UserId } from '@gatehouse/contract';
import { BROWSER_SECURITY_HEADERS as SECURITY_HEADERS } from '@gatehouse/http';
import { Metrics } from '@gatehouse/observability';
import { pino } from 'pino';
import { TEST_SETTINGS } from '../testing/test-api.ts';
import { waitFor } from '../testing/wait-for.ts';
import { ApiMetrics } from './api-metrics.ts';
import { type Call, type Reply, type Session, type StreamedReply, withSession } from './implement.ts';
import { createServer } from './server.ts';

const SESSION: Session = {
  id: 's',
  userId: 'u' as UserId,
  email: 'a@example.com',
  role: 'member',
  joinedAt: '',
  organizationId: 'o' as OrganizationId,
  organizationName: 'O',
};
const PATH = `/api${analytics.getSummary.path}`;
const MIB = 1024 * 1024;

type Handle = (call: Call<unknown, unknown>) => Promise<Reply<never> | StreamedReply>;

/** The real adapter in front of one handler. */
async function startServer(handle: Handle) {
  const logLines: Record<string, unknown>[] = [];
  const server = createServer({
    implementations: [withSession(analytics.getSummary, handle as never)],
    findSession: async () => SESSION,
    organizationPermit: () => ({ [Symbol.dispose]: () => undefined }),
    missing: async () => [],
    metrics: new ApiMetrics(new Metrics()),
    recordsFrom: () => () => () => assert.fail('nothing is recorded'),
    log: pino({ level: 'debug' }, { write: (line: string) => logLines.push(JSON.parse(line)) }),
    settings: TEST_SETTINGS,
  });
  await server.listen({ host: '127.0.0.1', port: 0 });
  const { port } = server.server.address() as { port: number };
  const ask = () => {
    const headers = { cookie: `${ACCESS_COOKIE}=t` };
    const outgoing = request({ host: '127.0.0.1', port, path: PATH, headers, agent: false });
    // Some tests abort the connection, on either side.
    outgoing.on('error', () => undefined);
    outgoing.end();
    return outgoing;
  };
  return {
    server,
    logLines,
    ask,
    /** The head of the answer; its body is not read yet. */
    async begin(): Promise<IncomingMessage> {
      const [response] = (await once(ask(), 'response')) as [IncomingMessage];
      return response;
    },
    causes: () => logLines.filter((line) => line['msg'] !== 'request'),
    async [Symbol.asyncDispose]() {
      server.server.closeAllConnections();
      await server.close();
    },
  };
}

const streamed = (pieces: AsyncIterable<Uint8Array>): Promise<StreamedReply> =>
  Promise.resolve({ pieces, contentType: 'text/plain; charset=utf-8', headers: { 'x-of-its-own': 'yes' } });

async function* texts(...all: string[]): AsyncGenerator<Uint8Array> {
  for (const text of all) yield Buffer.from(text);
}

describe('a streamed answer', () => {
  it('200 in chunks, with the common headers and its own', async () => {
    await using started = await startServer(() => streamed(texts('one ', 'two ', 'th\u00fcr')));
    const response = await started.begin();
    const body = Buffer.concat(await response.toArray()).toString();
    assert.equal(body, 'one two th\u00fcr');
    assert.equal(response.statusCode, 200);
    assert.equal(response.headers['transfer-encoding'], 'chunked');
    assert.equal(response.headers['content-length'], undefined);
    const expected = { ...SECURITY_HEADERS, 'x-of-its-own': 'yes', 'cache-control': 'no-store' };
    for (const [name, value] of Object.entries(expected)) assert.equal(response.headers[name], value, name);
    assert.equal(response.headers['content-type'], 'text/plain; charset=utf-8');
    assert.match(String(response.headers['x-request-id']), /^[0-9a-f-]{36}$/);
    assert.deepEqual(started.causes(), []);
  });

  it('200 read no further ahead than the connection buffers, and completely once the caller reads', async () => {
    const total = 256;
    let pulled = 0;
    async function* pieces() {
      for (; pulled < total; pulled += 1) yield Buffer.alloc(MIB, 'x');
    }
    await using started = await startServer(() => streamed(pieces()));
    const response = await started.begin();
    // The reader does not read, so the connection fills up.
    for (let before = -1, still = 0; still < 2_000; before = pulled) {
      still = before === pulled ? still + 1 : 0;
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.ok(pulled < total / 4, `${pulled} MiB were read ahead`);
    let length = 0;
    for await (const chunk of response) length += (chunk as Buffer).length;
    assert.equal(length, total * MIB);
  });

  it('200 aborted by a failure after the first piece, with its cause in the log', async () => {
    async function* pieces() {
      yield Buffer.from('begun');
      throw new Error('the second piece is missing');
    }
    await using started = await startServer(() => streamed(pieces()));
    const response = await started.begin();
    const requestId = response.headers['x-request-id'];
    await assert.rejects(response.toArray(), { code: 'ECONNRESET' });
    assert.equal(response.complete, false);
    const [cause, ...others] = started.causes();
    assert.deepEqual(others, []);
    assert.equal(cause?.['request_id'], requestId);
    assert.match(JSON.stringify(cause), /the second piece is missing/);
  });

  it('500 for a failure before the first piece, with its cause in the log', async () => {
    // biome-ignore lint/correctness/useYield: it fails before
    async function* pieces(): AsyncGenerator<Uint8Array> {
      throw new Error('nothing to begin with');
    }
    await using started = await startServer(() => streamed(pieces()));
    const response = await started.begin();
    assert.equal(response.statusCode, 500);
    assert.match(String(response.headers['content-type']), /^application\/json/);
    assert.equal(JSON.parse(Buffer.concat(await response.toArray()).toString()).error, 'internal error');
    assert.equal(started.causes().length, 1);
  });

  it('200 stopped when the caller leaves in the middle of the answer', async () => {
    const left = Promise.withResolvers<void>();
    let gone: AbortSignal | undefined;
    async function* pieces() {
      try {
        for (;;) yield Buffer.alloc(MIB, 'x');
      } finally {
        left.resolve();
      }
    }
    await using started = await startServer((call) => {
      gone = call.gone;
      return streamed(pieces());
    });
    const response = await started.begin();
    assert.equal(gone?.aborted, false);
    response.on('error', () => undefined);
    response.destroy();
    await left.promise;
    assert.equal(gone?.aborted, true);
    assert.deepEqual(started.causes(), []);
  });

  it('200 stopped when the caller leaves while the next piece is being made', async () => {
    const left = Promise.withResolvers<void>();
    async function* pieces(gone: AbortSignal) {
      try {
        yield Buffer.from('begun');
        await once(gone, 'abort');
        gone.throwIfAborted();
      } finally {
        left.resolve();
      }
    }
    await using started = await startServer(({ gone }) => streamed(pieces(gone)));
    const response = await started.begin();
    response.on('error', () => undefined);
    response.destroy();
    await left.promise;
    assert.deepEqual(started.causes(), []);
  });

  it('200 aborted when the connections are closed during shutdown, with one log line', async () => {
    const left = Promise.withResolvers<void>();
    async function* pieces() {
      try {
        for (;;) yield Buffer.alloc(MIB, 'x');
      } finally {
        left.resolve();
      }
    }
    await using started = await startServer(() => streamed(pieces()));
    const response = await started.begin();
    const closed = started.server.close();
    // As the service does after its grace period.
    started.server.server.closeAllConnections();
    await closed;
    assert.deepEqual(
      started.logLines.map(({ msg, gone, status }) => [msg, gone, status]),
      [['request', true, 200]],
    );
    await left.promise;
    await assert.rejects(response.toArray(), { code: 'ECONNRESET' });
  });
});

describe('a caller that leaves', () => {
  it('aborts the signal of the handler', async () => {
    const begun = Promise.withResolvers<void>();
    const left = Promise.withResolvers<unknown>();
    await using started = await startServer(async ({ gone }) => {
      begun.resolve();
      await once(gone, 'abort');
      left.resolve(gone.reason);
      throw gone.reason;
    });
    const outgoing = started.ask();
    await begun.promise;
    outgoing.destroy();
    assert.equal(((await left.promise) as Error).name, 'CallerGone');
  });

  it('has one log line, with a status only if it was sent', async () => {
    async function* pieces() {
      for (;;) yield Buffer.alloc(MIB, 'x');
    }
    const begun = Promise.withResolvers<void>();
    let isStreamed = true;
    await using started = await startServer(async ({ gone }) => {
      if (isStreamed) return streamed(pieces());
      begun.resolve();
      await once(gone, 'abort');
      throw new ApiError(503, { error: 'for nobody' });
    });
    const response = await started.begin();
    response.on('error', () => undefined);
    response.destroy();
    await waitFor('the line of the stream', () => started.logLines.length === 1);
    isStreamed = false;
    const outgoing = started.ask();
    await begun.promise;
    outgoing.destroy();
    await waitFor('the line of the other', () => started.logLines.length === 2);
    // The later error of the handler adds nothing.
    for (let turns = 0; turns < 10; turns += 1) await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(
      started.logLines.map(({ msg, gone, status }) => [msg, gone, status]),
      [
        ['request', true, 200],
        ['request', true, undefined],
      ],
    );
  });

  it('is not one that has its answer, whichever way the connection ends', async () => {
    const signals: AbortSignal[] = [];
    await using started = await startServer(async ({ gone }) => {
      signals.push(gone);
      return { body: {} as never };
    });
    const response = await started.begin();
    await response.toArray();
    response.destroy();
    // The log line of a request comes when its answer is over.
    await waitFor('the line of the request', () => started.logLines.length === 1);
    assert.equal(started.logLines[0]?.['gone'], undefined);
    assert.deepEqual(
      signals.map((signal) => signal.aborted),
      [false],
    );
  });
});
