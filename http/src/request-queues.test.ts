import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { parseInSlices } from './parse-in-slices.ts';
import { createRequestQueues, type RequestQueues } from './request-queues.ts';

/** Longer than any test takes. */
const LONG_MS = 600_000;
const SHORT_MS = 100;

interface Handled {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

describe('the requests of a connection', () => {
  let server: Server;
  let queues: RequestQueues;
  let socket: Socket;
  let atServer: Socket;
  let handled: Handled[];
  let arrived: number;
  let mostWaiting: number;
  /** The codes of the client errors that the server reported. */
  let clientErrors: (string | undefined)[];
  /** Called for each request that is handled. */
  let onHandle: (one: Handled) => void;

  beforeEach(async () => {
    queues = createRequestQueues({ timeoutMs: LONG_MS, pauseMs: 0 });
    handled = [];
    arrived = 0;
    mostWaiting = 0;
    clientErrors = [];
    onHandle = () => {};
    server = createServer(
      {
        requestTimeout: LONG_MS,
        headersTimeout: LONG_MS,
        connectionsCheckingInterval: 20,
        requireHostHeader: false,
      },
      (request, response) => {
        arrived += 1;
        queues.accept(request, response, () => {
          const one = { request, response };
          handled.push(one);
          onHandle(one);
        });
        mostWaiting = Math.max(mostWaiting, arrived - handled.length);
      },
    );
    server.on('connection', (one) => {
      parseInSlices(one, {
        mayRead: (given) => queues.mayRead(given),
        latest: (given) => queues.latest(given),
      });
    });
    server.on('clientError', (error: NodeJS.ErrnoException, stream) => {
      clientErrors.push(error.code);
      server.emit('test:clientError');
      queues.handleClientError(error, stream as Socket, () => {
        (stream as Socket).write('HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n');
        (stream as Socket).destroySoon();
      });
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const connection = once(server, 'connection');
    socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.on('error', () => {});
    [atServer] = await connection;
  });
  afterEach(async () => {
    socket.destroy();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  /** The time for a request to arrive ends before the first one is answered. */
  const shortenTimeouts = () => {
    server.headersTimeout = SHORT_MS;
    server.requestTimeout = SHORT_MS;
  };
  const get = (path: string | number) => `GET /${path} HTTP/1.1\r\nhost: x\r\n\r\n`;
  /** Resolves when the request with this number (from 1) is handled. */
  const isHandled = async (count: number) => {
    while (handled.length < count) {
      await new Promise<void>((resolve) => {
        onHandle = () => resolve();
      });
    }
  };
  const paths = () => handled.map(({ request }) => request.url);
  const answer = (index: number) => handled[index]?.response.end(String(handled[index]?.request.url));
  /** The text that the client has received once this text is in it as often as given. */
  const received = async (wanted: string, count = 1) => {
    let all = '';
    for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
      all += chunk;
      if (all.split(wanted).length > count) return all;
    }
    return all;
  };

  it('are handled one after the other, each when the one before is answered', async () => {
    socket.write(get(1) + get(2) + get(3));
    await isHandled(1);
    assert.equal(arrived, 3);
    assert.deepEqual(paths(), ['/1']);
    const second = queues.nextBegun(handled[0]?.request as IncomingMessage).then(() => handled.length);
    answer(0);
    assert.equal(await second, 2);
    assert.deepEqual(paths(), ['/1', '/2']);
    answer(1);
    await isHandled(3);
    for (const { request } of handled) await queues.nextBegun(request);
    answer(2);
    const bodies = [...(await received('/3')).matchAll(/^\/\d/gm)].map(([body]) => body);
    assert.deepEqual(bodies, ['/1', '/2', '/3']);
    assert.equal(queues.isAnswering(atServer), false);
    // A request on an idle connection is handled at once.
    socket.write(get(4));
    await isHandled(4);
    answer(3);
    await received('/4');
  });

  it('pause after 32 in a row that had to wait, until none waits', async () => {
    queues = createRequestQueues({ timeoutMs: LONG_MS, pauseMs: LONG_MS });
    onHandle = ({ response }) => response.end();
    const closed = once(atServer, 'close');
    socket.write(get('one') + get('waits').repeat(32));
    await received('/1.1 200 OK', 33);
    // Nothing waited any more, so another 33 come without a pause, and the next one waits for longer than this test takes.
    socket.write(get('one') + get('waits').repeat(40));
    await received('/1.1 200 OK', 33);
    assert.equal(handled.length, 66);
    assert.equal(queues.isAnswering(atServer), true);
    socket.destroy();
    await closed;
    assert.equal(handled.length, 66);
  });

  it('are all handled after pauses', async () => {
    queues = createRequestQueues({ timeoutMs: LONG_MS, pauseMs: 1 });
    onHandle = ({ response }) => response.end();
    socket.write(get('many').repeat(100));
    await received('/1.1 200 OK', 100);
    assert.equal(handled.length, 100);
  });

  it('do not pause where no more than one waits, on however many connections', async () => {
    queues = createRequestQueues({ timeoutMs: LONG_MS, pauseMs: LONG_MS });
    onHandle = ({ response }) => response.end();
    for (let round = 0; round < 100; round += 1) {
      socket.write(get('one') + get('waits'));
      await received('/1.1 200 OK', 2);
    }
    assert.equal(handled.length, 200);
  });

  it('share one pace on all connections that are slowed', async () => {
    const timers: { readonly ms: number; readonly then: () => void }[] = [];
    const after = (ms: number, then: () => void) => {
      timers.push({ ms, then });
      return () => undefined;
    };
    const pass = (ms: number) => {
      const due = timers.filter((timer) => timer.ms === ms);
      for (const timer of due) {
        timers.splice(timers.indexOf(timer), 1);
        timer.then();
      }
    };
    const clock = { after, monotonicMs: () => 0 };
    queues = createRequestQueues({ timeoutMs: LONG_MS, pauseMs: 25, clock });
    const others = await Promise.all(
      Array.from({ length: 3 }, async () => {
        const other = connect((server.address() as AddressInfo).port, '127.0.0.1');
        await once(other, 'connect');
        return other;
      }),
    );
    try {
      // The first of each connection, and 64 of all that had to wait.
      const unpaused = 3 + 64;
      const isSlowed = new Promise<void>((resolve) => {
        onHandle = ({ response }) =>
          response.end(() => {
            if (handled.length === unpaused) resolve();
          });
      });
      for (const other of others) other.write(get('many').repeat(50));
      await isSlowed;
      while (timers.length < 3) await new Promise((resolve) => setImmediate(resolve));
      // The pauses of the three are over, and one of them has its turn. The next one follows after another interval.
      pass(25);
      assert.equal(handled.length, unpaused + 1);
      pass(20);
      assert.equal(handled.length, unpaused + 2);
      // One that leaves gives its turn to the next.
      const last = handled.slice(-2).map(({ request }) => request.socket);
      const waiting = handled.map(({ request }) => request.socket).find((one) => !last.includes(one));
      const closed = once(waiting as Socket, 'close');
      waiting?.destroy();
      await closed;
      pass(20);
      assert.equal(handled.length, unpaused + 2);
      assert.equal(queues.isAnswering(waiting as Socket), false);
    } finally {
      for (const other of others) other.destroy();
    }
  });

  it('begin one in a turn of the event loop, on however many connections they waited', async () => {
    let turn = 0;
    const turns = new Map<string, number>();
    let immediate = setImmediate(function count() {
      turn += 1;
      immediate = setImmediate(count);
    });
    const others = await Promise.all(
      Array.from({ length: 6 }, async () => {
        const other = connect((server.address() as AddressInfo).port, '127.0.0.1');
        await once(other, 'connect');
        return other;
      }),
    );
    try {
      const isOver = new Promise<void>((resolve) => {
        onHandle = ({ request, response }) => {
          if (request.url?.startsWith('/waits')) turns.set(request.url, turn);
          response.end();
          if (handled.length === 6 * 4) resolve();
        };
      });
      // The last one of a connection has nothing behind it, so it need not take turns.
      for (const [index, other] of others.entries())
        other.write(get('first') + get(`waits${index}a`) + get(`waits${index}b`) + get('last'));
      await isOver;
      assert.equal(turns.size, 12);
      assert.equal(new Set(turns.values()).size, 12);
    } finally {
      clearImmediate(immediate);
      for (const other of others) other.destroy();
    }
  });

  it('let requests of other connections in between', async () => {
    const order: (string | undefined)[] = [];
    const other = connect((server.address() as AddressInfo).port, '127.0.0.1');
    try {
      await once(other, 'connect');
      socket.write(get('first') + get('many').repeat(200));
      await isHandled(1);
      const isOver = new Promise<void>((resolve) => {
        onHandle = ({ request, response }) => {
          order.push(request.url);
          response.end();
          if (order.length === 201) resolve();
        };
      });
      other.write(get('other'));
      handled[0]?.response.end();
      await isOver;
      assert.ok(order.indexOf('/other') < 100, `the other came after ${order.indexOf('/other')}`);
    } finally {
      other.destroy();
    }
  });

  it('are not read while many wait, and all of them are answered in the end', async () => {
    const count = 20_000;
    const request = `GET /${'x'.repeat(200)} HTTP/1.1\r\nhost: x\r\n\r\n`;
    let answers = 0;
    socket.write(request.repeat(count));
    await isHandled(1);
    const isOver = new Promise<void>((resolve) => {
      onHandle = ({ response }) => response.end();
      socket.on('data', (chunk: Buffer) => {
        answers += chunk.toString('latin1').split('HTTP/1.1 200').length - 1;
        if (handled.length === count && atServer.bytesWritten === socket.bytesRead) resolve();
      });
    });
    handled[0]?.response.end();
    await isOver;
    assert.equal(arrived, count);
    assert.ok(answers > count / 2);
    // Only those of one slice: about 36 in 8 KiB.
    assert.ok(mostWaiting <= 32 + Math.ceil(8_192 / request.length), `${mostWaiting} waited`);
  });

  it('keep bodies of any size unread until they are handled', async () => {
    const body = 'y'.repeat(3_000_000);
    socket.write(`${get(1)}POST /2 HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n`);
    const isSent = new Promise((resolve) => socket.write(body, resolve));
    await isHandled(1);
    answer(0);
    await isHandled(2);
    const [, second] = handled;
    assert.equal(await text(second?.request as IncomingMessage), body);
    await isSent;
    answer(1);
    await received('/2');
  });

  it('have their time to arrive after the earlier answers, not while they are queued', async () => {
    shortenTimeouts();
    socket.write(`${get(1)}POST /2 HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\n\r\nab`);
    await isHandled(1);
    await once(server, 'test:clientError');
    assert.deepEqual(clientErrors, ['ERR_HTTP_REQUEST_TIMEOUT']);
    answer(0);
    await isHandled(2);
    socket.write('cd');
    assert.equal(await text(handled[1]?.request as IncomingMessage), 'abcd');
    answer(1);
    assert.match(await received('/2'), /\/1.*\/2$/s);
  });

  it('get the timeout answer when they do not arrive in that time either', async () => {
    shortenTimeouts();
    queues = createRequestQueues({ timeoutMs: SHORT_MS, pauseMs: 0 });
    socket.write(`${get(1)}POST /2 HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\n\r\nab`);
    await isHandled(1);
    await once(server, 'test:clientError');
    answer(0);
    await isHandled(2);
    assert.match(await received('400'), /\/1.*HTTP\/1\.1 400 /s);
  });

  it('are all answered before what is no request is clientErrors', async () => {
    socket.write(`${get(1)}${get(2)}what is this\r\n\r\n`);
    await isHandled(1);
    answer(0);
    await isHandled(2);
    answer(1);
    assert.match(await received('400'), /200 OK.*\/1.*200 OK.*\/2HTTP\/1\.1 400 /s);
  });

  it('are dropped when the client leaves', async () => {
    socket.write(get(1) + get(2));
    await isHandled(1);
    const closed = [once(handled[0]?.response as ServerResponse, 'close'), once(atServer, 'close')];
    socket.destroy();
    await Promise.all(closed);
    await queues.nextBegun(handled[0]?.request as IncomingMessage);
    assert.deepEqual(paths(), ['/1']);
  });

  it('are not handled after an answer that closes the connection', async () => {
    socket.write(get(1) + get(2));
    await isHandled(1);
    handled[0]?.response.setHeader('connection', 'close').end('/1');
    assert.match(await received('never'), /\/1$/);
    assert.deepEqual(paths(), ['/1']);
  });

  it('close the connection when too many wait on all connections together', async () => {
    // The smallest possible request: one slice has about 450 of them.
    const many = 'GET / HTTP/1.1\r\n\r\n'.repeat(100_000);
    const others = await Promise.all(
      Array.from({ length: 12 }, async () => {
        const other = connect((server.address() as AddressInfo).port, '127.0.0.1');
        other.on('error', () => {});
        await once(other, 'connect');
        return other;
      }),
    );
    const ends = others.map((other) => new Promise((resolve) => other.once('close', resolve)));
    for (const other of others) other.write(many);
    await Promise.race(ends);
    for (const other of others) other.destroy();
    socket.write(get('mine'));
    const before = handled.length;
    await isHandled(before + 1);
  });
});
