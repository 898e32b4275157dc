import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { OrganizationId, RequestId } from '@gatehouse/contract';
import { ByteBlocks, joinBlocks } from '../bodies/byte-blocks.ts';
import { ByteBudget } from '../bodies/byte-budget.ts';
import type { HeldBody } from '../bodies/held-body.ts';
import type { GatewayError } from '../errors/gateway-error.ts';
import { sendError } from '../exchange/answers.ts';
import { Exchange } from '../exchange/exchange.ts';
import { createManualTime, type ManualTime } from '../testing/manual-time.ts';
import { readBody } from './read-body.ts';

const LARGE = 100_000;
const PACE_MS = 5_000;

describe('readBody', () => {
  let server: Server;
  let time: ManualTime;
  let bodies: ByteBudget;
  let smallBodies: ByteBudget;
  let held: HeldBody[];
  let arrivals: PromiseWithResolvers<Exchange>[];
  let closes: Promise<unknown>[];

  beforeEach(async () => {
    time = createManualTime();
    bodies = new ByteBudget(4 * LARGE, 2 * LARGE);
    smallBodies = new ByteBudget(100, 40);
    held = [];
    arrivals = [];
    closes = [];
    server = createServer((request, response) => {
      const exchange = new Exchange('id' as RequestId, request, response, time.clock, false);
      closes.push(once(response, 'close'));
      const key = { organizationId: String(request.headers['x-organization']) as OrganizationId };
      const { timers } = time;
      const dependencies = { settings: { bodyLimitBytes: LARGE }, bodies, smallBodies, timers };
      readBody({ key }, exchange, dependencies).then(
        ({ callersBody, heldBody }) => {
          held.push(heldBody);
          response.end(joinBlocks(callersBody.take()));
        },
        (error: GatewayError) => (request.destroyed ? response.destroy() : sendError(exchange, error, {})),
      );
      arrivals.shift()?.resolve(exchange);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await Promise.all(closes);
    assert.equal(time.pending, 0);
    for (const heldBody of held) heldBody.release();
    assert.deepEqual([bodies.takenBytes, smallBodies.takenBytes], [0, 0]);
  });

  const port = () => (server.address() as AddressInfo).port;
  const post = (organization: string, body: Uint8Array<ArrayBuffer> | ReadableStream) =>
    fetch(`http://127.0.0.1:${port()}`, {
      method: 'POST',
      headers: { 'x-organization': organization },
      body,
      ...(body instanceof ReadableStream && { duplex: 'half' }),
    });
  /** A request whose body has begun; resolves once the bytes were taken in. */
  const begin = async (organization: string, announced: number, sent: number) => {
    const arrival = Promise.withResolvers<Exchange>();
    arrivals.push(arrival);
    const socket = connect(port(), '127.0.0.1');
    socket.on('error', () => {});
    const head = [
      'POST / HTTP/1.1',
      'host: x',
      `x-organization: ${organization}`,
      `content-length: ${announced}`,
    ];
    socket.write([...head, '', ''].join('\r\n'));
    const exchange = await arrival.promise;
    const write = async (bytes: number) => {
      let missing = bytes;
      const { promise, resolve } = Promise.withResolvers<void>();
      // Before the reading takes the chunk's memory.
      exchange.request.prependListener('data', (chunk: Buffer) => {
        missing -= chunk.length;
        if (missing === 0) resolve();
      });
      socket.write(Buffer.alloc(bytes, 'x'));
      await promise;
    };
    if (sent > 0) await write(sent);
    return { socket, exchange, write };
  };

  it('200 with the bytes as they came, in however many pieces', async () => {
    const body = Buffer.from(Array.from({ length: LARGE }, (_, index) => index % 251));
    const pieces = function* () {
      for (let at = 0, size = 1; at < body.length; at += size, size = (size * 7) % 5_003) {
        yield body.subarray(at, at + size);
      }
    };
    for (const sent of [body, ReadableStream.from(pieces()), body.subarray(0, 1), Buffer.alloc(0)]) {
      const answer = Buffer.from(await (await post('a', sent)).arrayBuffer());
      assert.ok(answer.equals(sent instanceof ReadableStream ? body : sent));
      held.at(-1)?.release();
    }
  });

  it('frees the memory of each piece that it has taken, or discarded', async () => {
    for (const [announced, status] of [
      [LARGE, 200],
      [LARGE + 1, 413],
    ] as const) {
      const { socket, exchange } = await begin('a', announced, 0);
      const pieces: Buffer[] = [];
      let bytes = 0;
      const ended = once(exchange.request, 'end');
      exchange.request.prependListener('data', (piece: Buffer) => {
        pieces.push(piece);
        bytes += piece.length;
      });
      const answered = once(socket, 'data');
      socket.write(Buffer.alloc(announced, 'x'));
      assert.match(String(await answered), new RegExp(`^HTTP/1.1 ${status} `));
      await ended;
      assert.equal(bytes, announced);
      assert.deepEqual(new Set(pieces.map(({ length }) => length)), new Set([0]));
      socket.destroy();
    }
  });

  it('503 when the bodies of all requests together are too much, with when to come back', async () => {
    assert.equal((await post('a', Buffer.alloc(LARGE))).status, 200);
    assert.equal((await post('b', Buffer.alloc(LARGE))).status, 200);
    assert.equal((await post('c', Buffer.alloc(LARGE))).status, 200);
    const refused = await post('d', Buffer.alloc(LARGE));
    assert.equal(refused.status, 503);
    assert.equal(refused.headers.get('retry-after'), '1');
    assert.match(((await refused.json()) as { error: { message: string } }).error.message, /memory/);
    held[0]?.release();
    assert.equal((await post('d', Buffer.alloc(LARGE))).status, 200);
  });

  it('200 for small bodies while large ones have taken all there is, of the same organisation too', async () => {
    for (const owner of ['a', 'b', 'c']) await begin(owner, LARGE, LARGE - 1);
    assert.equal((await post('d', Buffer.alloc(LARGE))).status, 503);
    for (const owner of ['a', 'b', 'c', 'd']) {
      const response = await post(owner, Buffer.alloc(20));
      assert.equal(response.status, 200);
      held.at(-1)?.release();
    }
  });

  it('408 for a body that does not keep pace, whose memory is freed, and its connection ends', async (t) => {
    const free = t.mock.method(ByteBlocks.prototype, 'free');
    const { socket } = await begin('a', LARGE, 10_000);
    const answer = once(socket, 'data');
    const closed = once(socket, 'close');
    time.fire(PACE_MS);
    const [text] = await answer;
    assert.match(String(text), /^HTTP\/1\.1 408 .*connection: close.*arrived too slowly/is);
    assert.equal(free.mock.callCount(), 1);
    await closed;
  });

  it('200 for a body that keeps pace, however long it takes in all', async () => {
    const { socket, write } = await begin('a', LARGE, 0);
    await write(90_000);
    time.fire(PACE_MS);
    // The look that follows is for the rest, which has come when it is taken.
    await write(10_000);
    const [text] = await once(socket, 'data');
    assert.match(String(text), /^HTTP\/1\.1 200 /);
    socket.destroy();
  });

  it('gives back what a caller had sent when it leaves', async () => {
    const { socket, exchange } = await begin('a', LARGE, 50_000);
    assert.equal(bodies.takenBytes + smallBodies.takenBytes > 0, true);
    const gone = once(exchange.response, 'close');
    socket.destroy();
    await gone;
    assert.equal(bodies.takenBytes + smallBodies.takenBytes, 0);
  });
});
