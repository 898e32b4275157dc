import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { before, describe, it } from 'node:test';
import { API_SECURITY_HEADERS } from '@gatehouse/http';
import { assertError, useBench } from '../testing/bench.ts';
import { completion, json } from '../testing/mock-provider.ts';

const bench = await useBench();

describe('hostile input', () => {
  before(async () => {
    bench.provider.script = json(completion('x', { prompt: 1, completion: 1 }));
  });

  /** Everything that the gateway sends for these bytes until the connection ends. */
  const exchange = async (...parts: string[]): Promise<string> => {
    const socket = connect(bench.gateway.port, '127.0.0.1');
    // The gateway may close before all is sent.
    socket.on('error', () => {});
    for (const part of parts) socket.write(part, 'latin1');
    let answer = '';
    for await (const chunk of socket) answer += String(chunk);
    return answer;
  };
  /** Like any other error: with the common headers, and in OpenAI's format. */
  const assertWholeRefusal = (answer: string, status: number) => {
    const [head = '', content = ''] = answer.split('\r\n\r\n');
    const [line = '', ...fields] = head.split('\r\n');
    assert.match(line, new RegExp(`^HTTP/1\\.1 ${status} `));
    const headers = new Headers(fields.map((field) => field.split(/: (.*)/s, 2) as [string, string]));
    for (const [name, value] of Object.entries(API_SECURITY_HEADERS)) assert.equal(headers.get(name), value);
    assert.match(headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/);
    assert.equal(headers.get('content-type'), 'application/json; charset=utf-8');
    assert.equal(headers.get('content-length'), String(content.length));
    const { error } = JSON.parse(content) as { error: Record<string, unknown> };
    assert.deepEqual(Object.keys(error), ['message', 'type', 'param', 'code']);
    assert.equal(error['type'], 'invalid_request_error');
    const logged = bench.gateway.logged.find((one) => one['request_id'] === headers.get('x-request-id'));
    assert.equal(logged?.['status'], status);
  };
  const post = (headers: string[], body: string) =>
    [
      'POST /v1/chat/completions HTTP/1.1',
      'host: x',
      'connection: close',
      ...headers,
      `content-length: ${body.length}`,
      '',
      body,
    ].join('\r\n');
  const body = '{"model":"mock/model","messages":[{"role":"user","content":"Hi"}]}';

  for (const [title, bytes, status] of [
    ['no HTTP', 'hello\r\n\r\n', 400],
    ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400],
    ['another version', 'GET / HTTP/9.9\r\n\r\n', 400],
    ['no host', 'GET /healthz HTTP/1.1\r\nconnection: close\r\n\r\n', 400],
    ['two lengths', 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab', 400],
    [
      'a length and chunks',
      'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
    ],
    ['a negative length', 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n', 400],
    ['a header with NUL', 'GET / HTTP/1.1\r\nhost: x\r\na: \0\r\n\r\n', 400],
    ['headers of 20 KB', `GET / HTTP/1.1\r\nhost: x\r\na: ${'a'.repeat(20_000)}\r\n\r\n`, 431],
    ['an expectation', 'GET / HTTP/1.1\r\nhost: x\r\nexpect: a-miracle\r\nconnection: close\r\n\r\n', 417],
    ['an expectation and a body', post(['expect: a-miracle'], 'x'), 417],
    ['a path that cannot be decoded', 'GET /v1/%zz%ff HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n', 404],
    ['TRACE', 'TRACE /v1/models HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n', 405],
    ['a whole address', 'GET http://evil/v1/models HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n', 404],
    ['dots', 'GET /v1/../healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n', 404],
  ] as const) {
    it(`${status} for ${title}`, async () => {
      assertWholeRefusal(await exchange(bytes), status);
      assert.equal((await bench.gateway.fetch('/healthz')).status, 200);
    });
  }

  it('no answer and no harm for CONNECT', async () => {
    assert.equal(await exchange('CONNECT evil:443 HTTP/1.1\r\nhost: x\r\n\r\n'), '');
    assert.equal((await bench.gateway.fetch('/healthz')).status, 200);
  });

  it('200 for a request that offers an upgrade', async () => {
    const answer = await exchange(
      'GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: upgrade, close\r\nupgrade: h2c\r\n\r\n',
    );
    assert.match(answer, /^HTTP\/1\.1 200 /);
  });

  it('401 when the first of two authorizations is bad, though the second is good', async () => {
    const headers = ['authorization: Bearer x', `authorization: Bearer ${bench.key.secret}`];
    assert.match(await exchange(post(headers, body)), /^HTTP\/1\.1 401 /);
  });

  it('answers pipelined requests, each once and in order', async () => {
    const headers = [`authorization: Bearer ${bench.key.secret}`];
    const chat = post(headers, body).replace('connection: close\r\n', '');
    const answer = await exchange(chat + chat + post(headers, '{}'));
    assert.deepEqual(
      [...answer.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => status),
      ['200', '200', '400'],
    );
  });

  it('401 at once for a large body without a valid key, which is not read completely', async () => {
    const socket = connect(bench.gateway.port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write('POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 100000000\r\n\r\n');
    // Answered before any of the body was sent.
    const [answer] = await once(socket, 'data');
    const ended = new Promise((resolve) => socket.on('close', resolve));
    // What is sent anyway is discarded up to a limit, and then the connection closes.
    for (let sent = 0; sent < 100; sent += 1) socket.write(Buffer.alloc(65_536));
    await ended;
    assert.match(String(answer), /^HTTP\/1\.1 401 /);
  });

  it('401 without 100 Continue for a caller without a valid key that expects it', async () => {
    const answer = await exchange(
      'POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: 10\r\n\r\n',
    );
    assert.match(answer, /^HTTP\/1\.1 401 /);
    assert.match(answer, /connection: close/i);
  });

  for (const [title, json] of [
    ['brackets without end', '['.repeat(500_000)],
    ['brackets that close', `{"model":"mock/model","messages":${'['.repeat(300)}${']'.repeat(300)}}`],
    [
      'objects in objects',
      `{"model":"mock/model","messages":[{"a":${'{"a":'.repeat(300)}1${'}'.repeat(300)}}]}`,
    ],
  ] as const) {
    it(`400 for a body of ${title}`, async () => {
      const response = await bench.gateway.fetch('/v1/chat/completions', {
        method: 'POST',
        headers: { authorization: `Bearer ${bench.key.secret}` },
        body: json,
      });
      await assertError(response, { status: 400, code: 'invalid_request', type: 'invalid_request_error' });
    });
  }

  for (const [title, content] of [
    ['special tokens', '<|endoftext|><|im_start|>system'],
    ['half a character', 'a\ud800b'],
    ['U+0000', 'a\u0000b'],
    ['one letter half a million times', 'a'.repeat(500_000)],
    ['blanks', ' '.repeat(500_000)],
  ] as const) {
    it(`200 for a message of ${title}`, async () => {
      const messages = [{ role: 'user', content }];
      const response = await bench.gateway.chat(bench.key.secret, { messages });
      assert.equal(response.status, 200);
      assert.deepEqual(bench.provider.asked.at(-1)?.body['messages'], messages);
    });
  }

  it('200 for members named like inherited properties, forwarded unchanged', async () => {
    const odd = '"__proto__":{"max_tokens":1},"constructor":{"prototype":{"stream":true}},"toString":1';
    const response = await bench.gateway.fetch('/v1/chat/completions', {
      method: 'POST',
      headers: { authorization: `Bearer ${bench.key.secret}` },
      body: body.replace('{', `{${odd},`),
    });
    assert.equal(response.status, 200);
    const asked = bench.provider.asked.at(-1)?.body ?? {};
    assert.ok(Object.hasOwn(asked, '__proto__'));
    assert.equal(asked['stream'], undefined);
    assert.equal(asked['max_completion_tokens'], 1_000);
  });

  it('none of it caused an internal error', () => {
    assert.deepEqual(
      bench.gateway.logged.filter((line) => Number(line['level']) > 30),
      [],
    );
  });
});
