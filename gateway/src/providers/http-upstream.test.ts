import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import {
  type AddressInfo,
  createServer as createTcpServer,
  type Socket,
  type Server as TcpServer,
} from 'node:net';
import { describe, it } from 'node:test';
import { direct } from '@gatehouse/http/outgoing';
import { pino } from 'pino';
import { createHttpUpstreams } from './http-upstream.ts';
import type { Upstream } from './upstream.ts';

const CHUNK = Buffer.alloc(100, 'x');
const CHUNKS = 20_000;

/** Both end with the stack. */
async function upstreamOf(provider: TcpServer, stack: AsyncDisposableStack): Promise<Upstream> {
  provider.listen(0, '127.0.0.1');
  stack.defer(() => void provider.close());
  await once(provider, 'listening');
  const upstreams = createHttpUpstreams({ proxyOf: direct, log: pino({ level: 'silent' }) });
  stack.defer(() => upstreams.close());
  const { port } = provider.address() as AddressInfo;
  return upstreams.at(`http://127.0.0.1:${port}`) as Upstream;
}

describe('a paused answer', () => {
  it('is paused once for what the parser has, not for each small chunk of it', async () => {
    // Chunked encoding: the parser reports each chunk by itself.
    const provider = createServer((_request, response) => {
      for (let sent = 0; sent < CHUNKS; sent += 1) response.write(CHUNK);
      response.end();
    });
    provider.listen(0, '127.0.0.1');
    await once(provider, 'listening');
    const upstreams = createHttpUpstreams({ proxyOf: direct, log: pino({ level: 'silent' }) });
    try {
      const upstream = upstreams.at(
        `http://127.0.0.1:${(provider.address() as AddressInfo).port}`,
      ) as Upstream;
      let received = 0;
      let rounds = 0;
      let isRoundStarted = false;
      const { promise: isOver, resolve, reject } = Promise.withResolvers<void>();
      const call = upstream.send(
        {
          path: '/',
          query: {},
          headers: {},
          body: Buffer.from('{}'),
          timeoutMs: 60_000,
          onBodySent: () => {},
          owner: '',
        },
        {
          onStart() {},
          onHead() {},
          onData(chunk) {
            received += chunk.length;
            call.pause();
            if (isRoundStarted) return;
            isRoundStarted = true;
            rounds += 1;
            setImmediate(() => {
              isRoundStarted = false;
              call.resume();
            });
          },
          onEnd: resolve,
          onFailure: reject,
        },
      );
      await isOver;
      assert.equal(received, CHUNK.length * CHUNKS);
      // 2 MB in some 64 KiB each.
      assert.ok(rounds < 500, `${rounds} rounds`);
    } finally {
      await upstreams.close();
      provider.close();
      provider.closeAllConnections();
    }
  });
});

describe('a paused answer whose provider closes the connection', () => {
  const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n';
  const encodings = {
    'a stated length': {
      begin: `${HEAD}content-length: ${2 * CHUNK.length}\r\n\r\n${CHUNK}`,
      end: String(CHUNK),
    },
    'chunked encoding': {
      begin: `${HEAD}transfer-encoding: chunked\r\n\r\n64\r\n${CHUNK}\r\n`,
      end: `64\r\n${CHUNK}\r\n0\r\n\r\n`,
    },
    'the end of the connection': { begin: `${HEAD}connection: close\r\n\r\n${CHUNK}`, end: String(CHUNK) },
  };
  for (const [encoding, { begin, end }] of Object.entries(encodings)) {
    it(`ends with all its bytes, with ${encoding}`, async () => {
      await using stack = new AsyncDisposableStack();
      const provider = createTcpServer();
      const upstream = await upstreamOf(provider, stack);
      const received: string[] = [];
      const isOver = Promise.withResolvers<void>();
      const isPaused = Promise.withResolvers<void>();
      const connected = once(provider, 'connection');
      const call = upstream.send(
        {
          path: '/',
          query: {},
          headers: {},
          body: Buffer.from('{}'),
          timeoutMs: 60_000,
          onBodySent: () => {},
          owner: '',
        },
        {
          onStart() {},
          onHead() {},
          onData(chunk) {
            received.push(String(chunk));
            call.pause();
            isPaused.resolve();
          },
          onEnd: isOver.resolve,
          onFailure: isOver.reject,
        },
      );
      const [socket] = (await connected) as [Socket];
      await once(socket, 'data');
      socket.write(begin);
      await isPaused.promise;
      socket.end(end);
      // Its last bytes are not read before.
      if (encoding === 'chunked encoding') call.resume();
      await isOver.promise;
      assert.equal(received.join(''), String(CHUNK) + String(CHUNK));
    });
  }
});

describe('an answer in small chunks', () => {
  const END = '0\r\n\r\n';
  const endings = {
    'that ends': { end: END, isWhole: true },
    'that is cut short': { end: 'no chunk\r\n', isWhole: false },
  };
  for (const [ending, { end, isWhole }] of Object.entries(endings)) {
    it(`${ending} is handed over by the packet, all of it`, async () => {
      await using stack = new AsyncDisposableStack();
      const chunks = Array.from({ length: 10 }, (_, n) => `data: ${n}\n\n`);
      const framed = chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join('');
      const provider = createTcpServer((socket) => {
        const head =
          'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n';
        socket.once('data', () => socket.end(head + framed + end));
      });
      const upstream = await upstreamOf(provider, stack);
      const received: string[] = [];
      const ended = new Promise<string>((resolve) => {
        upstream.send(
          {
            path: '/',
            query: {},
            headers: {},
            body: Buffer.from('{}'),
            timeoutMs: 60_000,
            owner: '',
            onBodySent() {},
          },
          {
            onStart() {},
            onHead() {},
            onData: (chunk) => void received.push(String(chunk)),
            onEnd: () => resolve('end'),
            onFailure: () => resolve('failure'),
          },
        );
      });
      assert.equal(await ended, isWhole ? 'end' : 'failure');
      assert.deepEqual(received, [chunks.join('')]);
    });
  }
});

describe('a request', () => {
  for (const bytes of [1, 16 * 1024, 16 * 1024 + 1, 200_000]) {
    it(`with a body of ${bytes} bytes goes out whole, and is no longer held when the answer comes`, async () => {
      const provider = createServer(async (request, response) => {
        const received: Buffer[] = [];
        for await (const chunk of request) received.push(chunk);
        const { url, headers } = request;
        const answer = { url, headers, bytes: Buffer.concat(received).length };
        response.end(JSON.stringify(answer));
      });
      provider.listen(0, '127.0.0.1');
      await once(provider, 'listening');
      const upstreams = createHttpUpstreams({ proxyOf: direct, log: pino({ level: 'silent' }) });
      try {
        const { port } = provider.address() as AddressInfo;
        const upstream = upstreams.at(`http://127.0.0.1:${port}/base?a=1`) as Upstream;
        const { promise, resolve, reject } = Promise.withResolvers<void>();
        let sent = 0;
        let sentBeforeHead = 0;
        let text = '';
        upstream.send(
          {
            owner: '',
            path: '/path',
            query: { b: '2 3' },
            headers: { 'x-one': 'two' },
            body: Buffer.alloc(bytes, ' '),
            timeoutMs: 60_000,
            onBodySent: () => {
              sent += 1;
            },
          },
          {
            onStart() {},
            onHead() {
              sentBeforeHead = sent;
            },
            onData(chunk) {
              text += chunk;
            },
            onEnd: resolve,
            onFailure: reject,
          },
        );
        await promise;
        const answer = JSON.parse(text);
        assert.deepEqual([answer.url, answer.bytes], ['/base/path?a=1&b=2+3', bytes]);
        assert.equal(answer.headers['content-length'], String(bytes));
        assert.equal(answer.headers['x-one'], 'two');
        assert.deepEqual([sentBeforeHead, sent], [1, 1]);
      } finally {
        await upstreams.close();
        provider.close();
      }
    });
  }
});

describe('a thousand requests to one provider', () => {
  it('are in flight together, so that none waits for the end of a stream', { timeout: 60_000 }, async () => {
    const REQUESTS = 1_000;
    const waiting: ServerResponse[] = [];
    const provider = createServer((_request, response) => {
      waiting.push(response);
      if (waiting.length === REQUESTS) for (const one of waiting) one.end();
    });
    provider.listen(0, '127.0.0.1');
    await once(provider, 'listening');
    const upstreams = createHttpUpstreams({ proxyOf: direct, log: pino({ level: 'silent' }) });
    try {
      const { port } = provider.address() as AddressInfo;
      const upstream = upstreams.at(`http://127.0.0.1:${port}`) as Upstream;
      const request = {
        path: '/',
        query: {},
        headers: {},
        body: Buffer.from('{}'),
        timeoutMs: 60_000,
        onBodySent: () => {},
        owner: '',
      };
      const ended = Array.from({ length: REQUESTS }, () => {
        const { promise, resolve, reject } = Promise.withResolvers<void>();
        upstream.send(request, {
          onStart() {},
          onHead() {},
          onData() {},
          onEnd: resolve,
          onFailure: reject,
        });
        return promise;
      });
      await Promise.all(ended);
    } finally {
      await upstreams.close();
      provider.close();
      provider.closeAllConnections();
    }
  });
});
