import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { before, describe, it } from 'node:test';
import { assertError, useBench } from '../testing/bench.ts';
import { completion, json } from '../testing/mock-provider.ts';
import { issueKey, startTestGateway } from '../testing/test-gateway.ts';

const INVALID = { code: 'invalid_request', type: 'invalid_request_error' };
// More than one organisation may hold at once, many times over: what is not given back is missed.
const ROUNDS = 12;

const bench = await useBench();

describe('large bodies', () => {
  before(async () => {
    bench.provider.script = json(completion('x', { prompt: 1, completion: 1 }));
  });

  const post = (body: Uint8Array<ArrayBuffer> | string, secret = bench.key.secret) =>
    bench.gateway.fetch('/v1/chat/completions', {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}` },
      body,
    });
  const large = (members = '') =>
    `{"model":"mock/model","messages":[{"role":"user","content":"${'Hi. '.repeat(200_000)}"}]${members},"max_tokens":5}`;

  it('200 with the bytes sent on as they came', async () => {
    const sent = large(',"seed":9007199254740993 , "stop":null');
    assert.equal((await post(sent)).status, 200);
    assert.equal(
      bench.provider.asked.at(-1)?.text,
      sent.replace('"mock/model"', '"upstream-model"').replace('"max_tokens"', '"max_completion_tokens"'),
    );
  });

  for (const [title, body, refusal] of [
    ['400 for no JSON', `${large()}x`, { ...INVALID, status: 400 }],
    ['400 naming the member', large(',"n":0'), { ...INVALID, status: 400, param: 'n' }],
    [
      '404 for a model that there is not',
      large().replace('mock/model', 'mock/none'),
      { status: 404, code: 'model_not_found', type: 'invalid_request_error', param: 'model' },
    ],
    [
      '413 for ten thousand times too many values',
      `[${'{},'.repeat(300_000)}{}]`,
      { ...INVALID, status: 413 },
    ],
  ] as const) {
    it(`${title}, with its memory given back`, async () => {
      for (let round = 0; round < ROUNDS; round += 1) await assertError(await post(body), refusal);
    });
  }

  it('413 for four bodies of the largest default size full of empty objects, at once', async () => {
    const bodyLimitBytes = 16 * 1024 ** 2;
    await using gateway = await startTestGateway(bench.database, { settings: { bodyLimitBytes } });
    const body = Buffer.alloc(bodyLimitBytes, '{},');
    body.set(Buffer.from('{"model":"mock/model","messages":['));
    body.set(Buffer.from('{}]}'), bodyLimitBytes - 4);
    const answers = await Promise.all(
      Array.from({ length: 4 }, () =>
        gateway.fetch('/v1/chat/completions', {
          method: 'POST',
          headers: { authorization: `Bearer ${bench.key.secret}` },
          body,
        }),
      ),
    );
    for (const answer of answers) {
      assert.match(await assertError(answer, { ...INVALID, status: 413 }), /400000 brackets/);
    }
  });

  it('429 past the rate before any byte of the body is sent', async () => {
    const key = await issueKey(bench.database, { rateLimitRpm: 1 });
    assert.equal((await post(large(), key.secret)).status, 200);
    const socket = connect(bench.gateway.port, '127.0.0.1');
    const head = ['POST /v1/chat/completions HTTP/1.1', 'host: x', `authorization: Bearer ${key.secret}`];
    socket.write([...head, 'content-length: 1000000', '', ''].join('\r\n'));
    const [answer] = await once(socket, 'data');
    assert.match(String(answer), /^HTTP\/1\.1 429 .*retry-after: 60/s);
    socket.destroy();
  });

  it('502 when the provider aborts, with the memory of the body released', async () => {
    const { script } = bench.provider;
    bench.provider.script = (response) => void response.destroy();
    for (let round = 0; round < ROUNDS; round += 1) assert.equal((await post(large())).status, 502);
    bench.provider.script = script;
    assert.equal((await post(large())).status, 200);
  });

  it('200 after callers left in the middle of their bodies, whose memory is released', async () => {
    const before = bench.gateway.journal.records.length;
    for (let round = 0; round < ROUNDS; round += 1) {
      const socket = connect(bench.gateway.port, '127.0.0.1');
      const head = [
        'POST /v1/chat/completions HTTP/1.1',
        'host: x',
        `authorization: Bearer ${bench.key.secret}`,
      ];
      socket.write([...head, 'expect: 100-continue', 'content-length: 1000000', '', ''].join('\r\n'));
      await once(socket, 'data');
      socket.end('x'.repeat(900_000));
      await bench.gateway.journal.count(before + round + 1);
    }
    assert.equal((await post(large())).status, 200);
  });

  it('200 while answers stream, which hold no memory of their bodies', async () => {
    const streams: Response[] = [];
    const { script } = bench.provider;
    const release = Promise.withResolvers<void>();
    bench.provider.script = async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(': hello\n\n');
      await release.promise;
      response.end('data: [DONE]\n\n');
    };
    for (let round = 0; round < ROUNDS; round += 1) streams.push(await post(large(',"stream":true')));
    assert.deepEqual(new Set(streams.map(({ status }) => status)), new Set([200]));
    release.resolve();
    for (const stream of streams) await stream.text();
    bench.provider.script = script;
  });
});
