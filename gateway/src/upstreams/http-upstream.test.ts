import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { createHttpUpstreams } from './http-upstream.ts';
import type { Upstream } from './upstream.ts';

const CHUNK = Buffer.alloc(100, 'x');
const CHUNKS = 20_000;

describe('a paused answer', () => {
  it('is paused once for what the parser has, not for each small chunk of it', async () => {
    // Chunked encoding: the parser reports each chunk by itself.
    const provider = createServer((_request, response) => {
      for (let sent = 0; sent < CHUNKS; sent += 1) response.write(CHUNK);
      response.end();
    });
    provider.listen(0, '127.0.0.1');
    await once(provider, 'listening');
    const upstreams = createHttpUpstreams();
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
