import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { ErrorBody } from '@gatehouse/contract';
import { answerMalformed, BROWSER_SECURITY_HEADERS as SECURITY_HEADERS } from '@gatehouse/http';
import { Metrics } from '@gatehouse/observability';
import { pino } from 'pino';
import { duringTests } from '../testing/during-tests.ts';
import { head, type RawAnswer, talk } from '../testing/raw-connection.ts';
import { startTestApi, TEST_SETTINGS } from '../testing/test-api.ts';
import { waitFor } from '../testing/wait-for.ts';
import { ApiMetrics } from './api-metrics.ts';
import { createServer } from './server.ts';

const JSON_TYPE = { 'Content-Type': 'application/json' };

describe('malformed requests', { timeout: 60_000 }, () => {
  const api = duringTests(startTestApi);

  for (const [title, bytes, status] of [
    ['no request at all', 'hello\r\n\r\n', 400],
    ['a TLS hello', Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc]), 400],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
    ['a method that nobody knows', head('FOO /api/members HTTP/1.1'), 400],
    ['a version that nobody knows', head('GET /api/members HTTP/9.9'), 400],
    ['a space in the path', head('GET /api/mem bers HTTP/1.1'), 400],
    ['bytes outside ASCII in the path', Buffer.from(head('GET /api/é HTTP/1.1')), 400],
    ['a NUL in the path', head('GET /api/\u0000 HTTP/1.1'), 400],
    ['a NUL in a cookie', head('GET /api/members HTTP/1.1', { Cookie: 'svc_access_token=a\u0000b' }), 400],
    ['a bare line feed in a header', head('GET /api/members HTTP/1.1', { Cookie: 'a\nX: b' }), 400],
    ['a header without a name', head('GET /api/members HTTP/1.1', { '': 'x' }), 400],
    ['a space before a colon', head('GET /api/members HTTP/1.1', { 'Cookie ': 'a=b' }), 400],
    ['bare line feeds', 'GET /api/members HTTP/1.1\nHost: x\n\n', 400],
    [
      'a length and chunks (request smuggling)',
      `${head('POST /api/auth/login HTTP/1.1', { ...JSON_TYPE, 'Content-Length': '5', 'Transfer-Encoding': 'chunked' })}0\r\n\r\n`,
      400,
    ],
    [
      'two lengths',
      `${head('POST /api/auth/login HTTP/1.1', { 'Content-Length': '1', 'content-length': '2' })}{}`,
      400,
    ],
    ['a negative length', head('POST /api/auth/login HTTP/1.1', { 'Content-Length': '-1' }), 400],
    ['an endless length', head('POST /api/auth/login HTTP/1.1', { 'Content-Length': '9'.repeat(30) }), 400],
    ['an unknown transfer coding', head('POST /api/auth/login HTTP/1.1', { 'Transfer-Encoding': 'x' }), 400],
    [
      'a chunk without a size',
      `${head('POST /api/auth/login HTTP/1.1', { ...JSON_TYPE, 'Transfer-Encoding': 'chunked' })}zz\r\n`,
      400,
    ],
    ['headers beyond the limit', head('GET /api/members HTTP/1.1', { Cookie: 'a'.repeat(20_000) }), 431],
    ['a path beyond the limit', head(`GET /${'a'.repeat(20_000)} HTTP/1.1`), 431],
  ] satisfies [string, string | Buffer, number][]) {
    it(`${status} for ${title}`, async () => assertAnswer(await talk(api.port, bytes), status));
  }

  it('400 for HTTP/1.1 without a host', async () => {
    const answer = await talk(api.port, 'GET /api/members HTTP/1.1\r\nConnection: close\r\n\r\n');
    assertAnswer(answer, 400);
    assert.equal(answer.body, '{"error":"A Host header is needed."}');
  });

  it('401 for HTTP/1.0 without a host, which it does not need', async () => {
    const answer = await talk(api.port, 'GET /api/members HTTP/1.0\r\n\r\n');
    assertAnswer(answer, 401);
  });

  it('401 for the absolute form, with all headers, whatever host it names', async () => {
    for (const host of ['evil.example', 'api.test:443', 'user@api.test']) {
      const answer = await talk(api.port, head(`GET http://${host}/api/members?x HTTP/1.1`));
      assertAnswer(answer, 401);
    }
  });

  it('400 for a bad body despite an unknown expectation, which is ignored', async () => {
    const request = head('POST /api/auth/login HTTP/1.1', {
      ...JSON_TYPE,
      Expect: 'x',
      'Content-Length': '1',
    });
    const answer = await talk(api.port, `${request}{`);
    assertAnswer(answer, 400);
    assert.match(answer.body, /json_invalid/);
  });

  it('100 and then 400 for a caller that expects 100-continue', async () => {
    const { text } = await talk(
      api.port,
      `${head('POST /api/auth/login HTTP/1.1', { ...JSON_TYPE, Expect: '100-continue', 'Content-Length': '1' })}{`,
    );
    assert.match(text, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 400 Bad Request\r\n/);
  });

  it('401 for an upgrade of protocols, which is ignored', async () => {
    const answer = await talk(
      api.port,
      head('GET /api/members HTTP/1.1', { Connection: 'close, Upgrade', Upgrade: 'websocket' }),
    );
    assertAnswer(answer, 401);
  });

  it('closes a connection that requests a tunnel, without an answer', async () => {
    assert.equal((await talk(api.port, head('CONNECT api.test:80 HTTP/1.1'))).text, '');
  });

  it('closes every connection, and logs the reason', async () => {
    const lines = api.logLines.filter(({ msg }) => msg === 'malformed request');
    assert.ok(lines.length >= 20);
    for (const { request_id: id, status, code } of lines) {
      assert.ok(id && status && code);
    }
    const text = JSON.stringify(api.logLines);
    // A request id can contain a few of them by chance, but not this many in a row.
    assert.ok(!text.includes('svc_access_token'), 'the bytes themselves stay out');
    assert.ok(!text.includes('a'.repeat(20)), 'the bytes themselves stay out');
  });
});

describe('slow requests', { timeout: 60_000 }, () => {
  const createQuickServer = () =>
    createServer({
      implementations: [],
      findSession: async () => undefined,
      organizationPermit: () => ({ [Symbol.dispose]: () => undefined }),
      missing: async () => [],
      metrics: new ApiMetrics(new Metrics()),
      recordsFrom: () => () => () => assert.fail('nothing is recorded'),
      log: pino({ level: 'silent' }),
      settings: TEST_SETTINGS,
    });

  it('have 9 s for the headers and 15 s in all', async () => {
    const server = createQuickServer();
    assert.equal(server.server.headersTimeout, 9_000);
    assert.equal(server.server.requestTimeout, 15_000);
    // Above the idle time of common load balancers, so that the service never closes first.
    assert.equal(server.server.keepAliveTimeout, 65_000);
    await server.close();
  });

  for (const [title, sent, come, limits] of [
    [
      'headers',
      'GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: ',
      'connection',
      { headersTimeout: 1, requestTimeout: 15_000 },
    ],
    [
      'a body',
      'POST /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nx',
      'request',
      { headersTimeout: 1, requestTimeout: 1 },
    ],
  ] as const) {
    it(`408 for ${title} that arrive too slowly, on each of many connections, while others are served`, async () => {
      const server = createQuickServer();
      let came = 0;
      server.server.on(come, () => {
        came += 1;
      });
      await server.listen({ host: '127.0.0.1', port: 0 });
      const { port } = server.server.address() as { port: number };
      try {
        const slow = Array.from({ length: 20 }, () => talk(port, sent));
        const other = await fetch(`http://127.0.0.1:${port}/healthz`, { headers: { connection: 'close' } });
        assert.equal(other.status, 200);
        // The same limits, shortened once all slow requests have arrived.
        await waitFor('all to come', () => came === slow.length + 1);
        Object.assign(server.server, limits);
        for (const answer of await Promise.all(slow)) {
          if (title === 'headers') assertAnswer(answer, 408);
          // The request was answered before its body was complete. Then the connection closes.
          else assert.equal(answer.status, 405);
        }
      } finally {
        await server.close();
      }
    });
  }

  it('do not hold up the end of the server: no request at all', async () => {
    const server = createQuickServer();
    await server.listen({ host: '127.0.0.1', port: 0 });
    const { port } = server.server.address() as { port: number };
    const socket = connect({ port, host: '127.0.0.1' }).on('error', () => undefined);
    try {
      await once(server.server, 'connection');
      const ended = once(socket, 'close');
      socket.resume();
      await server.close();
      await ended;
    } finally {
      socket.destroy();
    }
  });

  it('do not hold up the end of the server: half a request', async () => {
    const server = createQuickServer();
    await server.listen({ host: '127.0.0.1', port: 0 });
    const { port } = server.server.address() as { port: number };
    const socket = connect({ port, host: '127.0.0.1' }).on('error', () => undefined);
    try {
      const [atServer] = await once(server.server, 'connection');
      socket.resume();
      socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: ');
      await waitFor('its bytes', () => atServer.bytesRead > 0);
      // The same limit, shortened.
      server.server.headersTimeout = 1;
      await server.close();
    } finally {
      socket.destroy();
    }
  });

  it('write nothing into an answer that has begun', async () => {
    const server = createHttpServer((_incoming, outgoing) => {
      outgoing.writeHead(200, { 'content-length': '10' });
      outgoing.write('begun');
    });
    server.on('clientError', (error, socket) =>
      answerMalformed(error, socket as Socket, {
        headers: SECURITY_HEADERS,
        newRequestId: () => 'id',
        bodies: { 400: '{}', 408: '{}', 431: '{}' },
        log: () => assert.fail('nothing is answered'),
      }),
    );
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as { port: number };
    const socket = connect({ port, host: '127.0.0.1' });
    try {
      let received = '';
      socket.on('error', () => undefined);
      socket.on('data', (chunk) => {
        received += chunk;
        // The rest of the request is malformed, after the answer has begun.
        if (received.endsWith('begun')) socket.write('zz\r\n');
      });
      socket.write(head('POST / HTTP/1.1', { 'Transfer-Encoding': 'chunked' }));
      await once(socket, 'close');
      assert.ok(received.endsWith('\r\n\r\nbegun'), received);
    } finally {
      socket.destroy();
      server.close();
    }
  });

  it('close a connection that the peer keeps open', async () => {
    const server = createQuickServer();
    await server.listen({ host: '127.0.0.1', port: 0 });
    const { port } = server.server.address() as { port: number };
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    try {
      socket.resume();
      socket.on('error', () => undefined);
      const [atService] = await once(server.server, 'connection');
      socket.write('hello\r\n\r\n');
      await once(atService, 'close');
    } finally {
      socket.destroy();
      await server.close();
    }
  });
});

function assertAnswer({ status, headers, body, text }: RawAnswer, expected: number): void {
  assert.equal(status, expected, text);
  for (const [name, value] of Object.entries(SECURITY_HEADERS)) assert.equal(headers[name], value, name);
  assert.match(headers['x-request-id'] ?? '', /^[0-9a-f-]{36}$/);
  assert.equal(headers['cache-control'], 'no-store');
  assert.equal(headers['content-type'], 'application/json; charset=utf-8');
  assert.equal(headers['content-length'], String(Buffer.byteLength(body)));
  assert.equal(headers['connection'], 'close');
  const said: unknown = JSON.parse(body);
  if (expected >= 400 && expected !== 401 && !body.includes('detail'))
    assert.ok(ErrorBody.safeParse(said).success);
}
