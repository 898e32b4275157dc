import assert from 'node:assert/strict';
import { request } from 'node:http';
import { before, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { BODY_LIMIT_BYTES, DetailBody } from '@gatehouse/contract';
import type { ApiClient, RawReply } from '../testing/api-client.ts';
import { duringTests } from '../testing/during-tests.ts';
import { head, talk } from '../testing/raw-connection.ts';
import { startTestApi } from '../testing/test-api.ts';

const JSON_TYPE = { 'content-type': 'application/json' };

// An object without the fields of a login: the answer lists what is missing.
const MISSING = ['body.email missing', 'body.password missing'];

describe('reading a body', () => {
  const api = duringTests(startTestApi);
  let client: ApiClient;
  before(async () => {
    client = api.anonymous();
  });

  const post = (
    body: string | Buffer,
    headers: Record<string, string> = JSON_TYPE,
    path = '/api/auth/login',
  ) => client.raw({ method: 'POST', path, headers, body });

  describe('size', () => {
    for (const [title, headers] of [
      ['with its length', JSON_TYPE],
      ['in chunks', { ...JSON_TYPE, 'transfer-encoding': 'chunked' }],
    ] satisfies [string, Record<string, string>][]) {
      it(`400 from parsing a body of exactly the limit, ${title}`, async () => {
        assert.deepEqual(issuesOf(await post(padded(BODY_LIMIT_BYTES), headers)), MISSING);
      });

      it(`413 for one byte more, ${title}`, async () =>
        assertTooLarge(await post(padded(BODY_LIMIT_BYTES + 1), headers)));

      it(`413 for megabytes, ${title}`, async () => {
        for (const megabytes of [1, 2, 8])
          assertTooLarge(await post(Buffer.alloc(megabytes * 1024 * 1024 + 1, 'x'), headers));
      });
    }

    it('413 for the content-length alone, without waiting for the bytes', async () => {
      const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
      const outgoing = request(
        {
          host: '127.0.0.1',
          port: api.port,
          method: 'POST',
          path: '/api/auth/login',
          headers: { ...JSON_TYPE, 'content-length': '1000000000000' },
        },
        ({ statusCode }) => resolve(statusCode),
      );
      outgoing.on('error', reject);
      outgoing.flushHeaders();
      assert.equal(await promise, 413);
      outgoing.destroy();
    });

    it('413 closes a keep-alive connection', async () => {
      const { status, headers } = await talk(api.port, kept('/api/auth/login', padded(BODY_LIMIT_BYTES + 1)));
      assert.equal(status, 413);
      assert.equal(headers['connection'], 'close');
    });

    it('401 for a body that is too large, without the required session', async () => {
      const reply = await post(padded(BODY_LIMIT_BYTES + 1), JSON_TYPE, '/api/keys');
      assert.equal(reply.status, 401);
    });
  });

  describe('JSON', () => {
    for (const body of [
      '',
      ' ',
      '{',
      '{"email":}',
      '{"email":"a",}',
      "{'email':'a'}",
      '{email:"a"}',
      '{}{}',
      '{} x',
      ...'NaN {"email":NaN} {"email":undefined} {"email":"\n"} {"email":"\\x41"} {"email":0x1}'.split(' '),
      ...'{"email":01}'.split(' '),
      '// comment\n{}',
      '"unfinished',
      '['.repeat(32_000),
      '{"a":'.repeat(10_000),
      Buffer.from('{"email":"é"}', 'latin1'),
      Buffer.from('{"email":"a"}', 'utf16le'),
      Buffer.from([0x7b, 0xff, 0x7d]),
      Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]),
      gzipSync('{"email":"a"}'),
    ]) {
      it(`400 for ${JSON.stringify(body.toString()).slice(0, 40)}`, async () =>
        assert.deepEqual(issuesOf(await post(body)), ['body json_invalid']));
    }

    for (const [title, body, ...expected] of [
      ['a list', '[]', 'body wrong_type'],
      ['null', 'null', 'body wrong_type'],
      ['a text', '"email"', 'body wrong_type'],
      ['a number', '5', 'body wrong_type'],
      ['a list 32,000 deep', '['.repeat(32_000) + ']'.repeat(32_000), 'body wrong_type'],
      ['an unknown field 32,000 levels deep', `{"x":${'['.repeat(32_000)}${']'.repeat(32_000)}}`, ...MISSING],
      [
        'a field 32,000 levels deep in place of a string',
        `{"password":"x","email":${'['.repeat(32_000)}${']'.repeat(32_000)}}`,
        'body.email wrong_type',
      ],
      ['a byte order mark', '\ufeff{}', ...MISSING],
      ['white space around it', ' \r\n\t{} \n', ...MISSING],
      [
        'a repeated field, the last of which counts',
        '{"email":"a","password":"b","email":5}',
        'body.email wrong_type',
      ],
      ['a number that no double holds', '{"email":1e999,"password":"x"}', 'body.email wrong_type'],
      [
        'names that objects inherit',
        '{"__proto__":{"email":"a"},"constructor":{"password":"b"}}',
        ...MISSING,
      ],
    ] satisfies [string, string, ...string[]][]) {
      it(`400 for ${title}`, async () => assert.deepEqual(issuesOf(await post(body)), expected));
    }
  });

  describe('media type', () => {
    for (const type of [
      'application/json',
      'Application/JSON',
      ' application/json ',
      'application/json;charset=utf-8',
      'application/json; charset=UTF-8',
      'application/json; charset="utf-8"',
      'application/json; charset=utf8',
      'application/json; profile="x"; charset=utf-8',
      'application/json;',
    ]) {
      it(`400 for what is in the body, with ${type}`, async () =>
        assert.deepEqual(issuesOf(await post('{}', { 'content-type': type })), MISSING));
    }

    for (const type of [
      undefined,
      '',
      ...'; */* json text/json text/plain application/x-www-form-urlencoded'.split(' '),
      'multipart/form-data; boundary=x',
      'application/jsonp',
      'application/json+x',
      'application/vnd.api+json',
      'application/x-ndjson',
      'application/json, text/plain',
      'application/json charset=utf-8',
      'text/plain; application/json',
      'application/json; charset=utf-16',
      'application/json; charset=iso-8859-1',
      'application/json; charset=',
      'application/json; charset=utf-8; charset=utf-7',
    ]) {
      it(`415 for ${type}`, async () => {
        const reply = await post('{}', type === undefined ? {} : { 'content-type': type });
        assert.equal(reply.status, 415);
        assert.deepEqual(issuesOf(reply, 415), ['header.content-type media_type']);
      });
    }

    for (const encoding of ['gzip', 'GZIP', 'deflate', 'br', 'zstd', 'gzip, gzip', 'identity, gzip', 'x']) {
      it(`415 for a body in ${encoding}`, async () => {
        const headers = { ...JSON_TYPE, 'content-encoding': encoding };
        assert.deepEqual(issuesOf(await post(gzipSync('{}'), headers), 415), [
          'header.content-encoding content_encoding',
        ]);
      });
    }

    it('400 for what is in a body that says it is not encoded', async () => {
      for (const encoding of ['identity', 'Identity', ''])
        assert.deepEqual(issuesOf(await post('{}', { ...JSON_TYPE, 'content-encoding': encoding })), MISSING);
    });

    it('401 without a session, whatever the body is', async () => {
      for (const headers of [
        {},
        { 'content-type': 'text/plain' },
        { ...JSON_TYPE, 'content-encoding': 'gzip' },
      ])
        assert.equal((await post('{"name":"x"}', headers, '/api/keys')).status, 401);
    });
  });

  describe('endpoints that take none', () => {
    const junk: [headers: Record<string, string>, body: string | Buffer][] = [
      [{}, ''],
      [JSON_TYPE, ''],
      [JSON_TYPE, '{'],
      [JSON_TYPE, '{"email":"x","svc_refresh_token":"y"}'],
      [{ 'content-type': 'text/plain' }, 'junk'],
      [{ 'content-type': ';;;' }, 'junk'],
      [{ 'content-type': 'application/json; charset=utf-16', 'content-encoding': 'gzip' }, gzipSync('{}')],
      [{ ...JSON_TYPE, 'transfer-encoding': 'chunked' }, 'x'.repeat(100_000)],
      [JSON_TYPE, 'x'.repeat(BODY_LIMIT_BYTES * 4)],
    ];

    it('200 or 401 as without a body', async () => {
      for (const [headers, body] of junk) {
        const length = headers['transfer-encoding'] ? {} : { 'content-length': String(body.length) };
        const send = (method: string, path: string) =>
          client.raw({ method, path, headers: { ...headers, ...length }, body });
        assert.equal((await send('POST', '/api/auth/logout')).status, 200);
        assert.equal((await send('POST', '/api/auth/refresh')).status, 401);
        assert.equal((await send('DELETE', '/api/keys/x')).status, 401);
        assert.equal((await send('GET', '/api/members')).status, 401);
      }
    });
  });

  it('takes no body that is left unread for the next request', async () => {
    const smuggled = head('GET /api/nothing HTTP/1.1');
    const { text } = await talk(
      api.port,
      kept('/api/auth/logout', smuggled) + kept('/api/keys', smuggled) + head('GET /healthz HTTP/1.1'),
    );
    const statuses = [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map((match) => match[1]);
    assert.deepEqual(statuses, ['200', '401', '200']);
  });
});

/** A POST of a body that asks for the connection to be kept. */
function kept(path: string, body: string): string {
  const headers = {
    Connection: 'keep-alive',
    'Content-Type': 'application/json',
    'Content-Length': String(body.length),
  };
  return head(`POST ${path} HTTP/1.1`, headers) + body;
}

function padded(bytes: number): string {
  return `{"pad":"${'x'.repeat(bytes - '{"pad":""}'.length)}"}`;
}

function assertTooLarge(reply: RawReply): void {
  assert.equal(reply.status, 413);
  assert.equal(reply.text, '{"error":"The body is larger than the 65536 bytes that are accepted."}');
  assert.equal(reply.headers['connection'], 'close');
}

function issuesOf(reply: RawReply, status = 400): string[] {
  assert.equal(reply.status, status, reply.text);
  return DetailBody.parse(JSON.parse(reply.text)).detail.map(({ loc, type }) => `${loc.join('.')} ${type}`);
}
