import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { afterEach, describe, it } from 'node:test';
import { assertError, useBench } from '../testing/bench.ts';
import { moneyOf, startTestGateway } from '../testing/test-gateway.ts';

const INVALID = 'invalid_request_error';
const NOTHING_USED = {
  promptTokens: null,
  totalTokens: 0,
  costMicroPkr: 0n,
  isHeld: false,
  upstreamModel: null,
};

const bench = await useBench();

describe('bodies that are refused', () => {
  afterEach(async () => {
    assert.equal(bench.provider.asked.length, 0);
    assert.equal((await moneyOf(bench.database, bench.key.id)).holds, 0n);
  });

  for (const [title, body, param] of [
    ['an empty body', '', undefined],
    ['no JSON', '{"model":', undefined],
    ['JSON with something behind it', '{"model":"m"} x', undefined],
    ['no UTF-8', Buffer.from('{"model":"\xff"}', 'latin1'), undefined],
    ['a list', '[]', undefined],
    ['null', 'null', undefined],
    ['a number', '1', undefined],
    ['a form', 'model=mock%2Fmodel', undefined],
    ['no model', '{"messages":[{}]}', 'model'],
    ['a model that is no text', '{"model":["mock/model"],"messages":[{}]}', 'model'],
    ['an empty model', '{"model":"","messages":[{}]}', 'model'],
    ['no messages', '{"model":"mock/model"}', 'messages'],
  ] as const) {
    it(`400 for ${title}`, async () => {
      const response = await bench.gateway.fetch('/v1/chat/completions', {
        method: 'POST',
        headers: { authorization: `Bearer ${bench.key.secret}`, 'content-type': 'application/json' },
        body,
      });
      const refusal = { status: 400, code: 'invalid_request', type: INVALID, ...(param && { param }) };
      await assertError(response, refusal);
      assert.equal(response.headers.get('x-ratelimit-limit-requests'), '1000');
      await bench.assertRecord(response, { ...NOTHING_USED, status: 400, refusal: 'invalid_request' });
    });
  }

  it('413 for a body over the limit, whether its length is said or not', async () => {
    const body = Buffer.alloc(1024 * 1024 + 1, ' ');
    const chunks = () => ReadableStream.from([body.subarray(0, 1_000), body.subarray(1_000)]);
    for (const init of [{ body }, { body: chunks(), duplex: 'half' as const }]) {
      const response = await bench.gateway.fetch('/v1/chat/completions', {
        method: 'POST',
        headers: { authorization: `Bearer ${bench.key.secret}` },
        ...init,
      });
      await assertError(response, { status: 413, code: 'invalid_request', type: INVALID });
      await bench.assertRecord(response, { ...NOTHING_USED, status: 413, model: '' });
    }
  });

  it('415 for a compressed body', async () => {
    const headers = { 'content-encoding': 'gzip' };
    const response = await bench.gateway.chat(bench.key.secret, {}, { headers });
    await assertError(response, { status: 415, code: 'invalid_request', type: INVALID });
    assert.equal((await bench.recordOf(response)).status, 415);
  });

  it('ends a connection whose body does not come in time, and records that', async () => {
    // It counts for the head too, which a busy machine may be slow to read.
    const settings = { bodyLimitBytes: 100, bodyTimeoutMs: 2_000 };
    await using gateway = await startTestGateway(bench.database, { settings });
    const socket = connect(gateway.port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${bench.key.secret}\r\ncontent-length: 9\r\n\r\n{`,
    );
    await new Promise((resolve) => socket.on('close', resolve));
    await gateway.journal.count(1);
    assert.deepEqual(
      gateway.journal.records.map(({ status, terminationReason }) => [status, terminationReason]),
      [[499, 'client_disconnect']],
    );
  });
});
