import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { parseInSlices } from './parse-in-slices.ts';
import { createRequestQueues, MAX_WAITING_REQUESTS, type RequestQueues } from './request-queues.ts';

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
  /** The codes of the client errors that the server reported. */
  let clientErrors: (string | undefined)[];
  /** Called for each request that is handled. */
  let onHandle: (one: Handled) => void;

  beforeEach(async () => {
    queues = createRequestQueues({ timeoutMs: LONG_MS });
    handled = [];
    arrived = 0;
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

  it('let requests of other connections in between', async () => {
    const order: (string | undefined)[] = [];
    const other = connect((server.address() as AddressInfo).port, '127.0.0.1');
    try {
      await once(other, 'connect');
      socket.write(get('first') + get('waits').repeat(MAX_WAITING_REQUESTS));
      await isHandled(1);
      const isOver = new Promise<void>((resolve) => {
        onHandle = ({ request, response }) => {
          order.push(request.url);
          response.end();
          if (order.length === MAX_WAITING_REQUESTS + 1) resolve();
        };
      });
      other.write(get('other'));
      handled[0]?.response.end();
      await isOver;
      assert.ok(
        order.indexOf('/other') < MAX_WAITING_REQUESTS,
        `the other came after ${order.indexOf('/other')}`,
      );
    } finally {
      other.destroy();
    }
  });

  it('may be nine at a time, any number of times', async () => {
    onHandle = ({ response }) => response.end();
    for (let round = 0; round < 50; round += 1) {
      socket.write(get('many').repeat(1 + MAX_WAITING_REQUESTS));
      await received('HTTP/1.1 200', 1 + MAX_WAITING_REQUESTS);
    }
    assert.equal(handled.length, 50 * (1 + MAX_WAITING_REQUESTS));
  });

  it('close the connection when more than eight wait, after the answers to those, the last of which says so', async () => {
    const closed = once(atServer, 'close');
    socket.write(Array.from({ length: 20_000 }, (_, n) => get(n)).join(''));
    await isHandled(1);
    onHandle = ({ response }) => response.end();
    handled[0]?.response.end();
    const answers = (await received('never')).split('HTTP/1.1 ').slice(1);
    await closed;
    assert.deepEqual(
      paths(),
      Array.from({ length: 1 + MAX_WAITING_REQUESTS }, (_, n) => `/${n}`),
    );
    assert.deepEqual(
      answers.map((text) => /^connection: (.*)$/im.exec(text)?.[1]?.trim()),
      [...Array.from({ length: MAX_WAITING_REQUESTS }, () => 'keep-alive'), 'close'],
    );
    // Those of one slice: 29 of these in 1 KiB.
    assert.ok(arrived <= 1 + MAX_WAITING_REQUESTS + 1_024 / get(1).length, `${arrived} were parsed`);
  });

  it('that are one too many and late cut off no answer', async () => {
    shortenTimeouts();
    socket.write(get(1) + get('waits').repeat(MAX_WAITING_REQUESTS));
    socket.write('POST /late HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\n\r\nab');
    await isHandled(1);
    await once(server, 'test:clientError');
    onHandle = ({ response }) => response.end();
    answer(0);
    assert.equal((await received('never')).split('HTTP/1.1 200').length - 1, 1 + MAX_WAITING_REQUESTS);
    assert.ok(!paths().includes('/late'));
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
    queues = createRequestQueues({ timeoutMs: SHORT_MS });
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
});
