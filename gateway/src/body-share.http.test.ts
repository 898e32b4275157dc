import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { assertRefusal, type Bench, startBench } from './testing/bench.ts';
import { completion, json } from './testing/mock-provider.ts';
import { issueKey, startTestGateway } from './testing/test-gateway.ts';

const BUSY = { status: 503, code: 'service_unavailable', type: 'server_error' };

describe('an organisation that holds bodies open', () => {
  let bench: Bench;
  before(async () => {
    bench = await startBench();
    bench.provider.script = json(completion('x', { prompt: 1, completion: 1 }));
  });
  after(() => bench?.[Symbol.asyncDispose]());

  it('503 for its own next body beyond its share, and 200 for the others', { timeout: 20_000 }, async () => {
    // Four bodies of the largest size are its share.
    const settings = { bodyLimitBytes: 100 };
    await using gateway = await startTestGateway(bench.database, { settings });
    const { key } = bench;
    const hold = () => {
      const socket = connect(gateway.port, '127.0.0.1');
      socket.on('error', () => {});
      const head = ['POST /v1/chat/completions HTTP/1.1', 'host: x', `authorization: Bearer ${key.secret}`];
      socket.write([...head, 'content-length: 100', '', ' '.repeat(95)].join('\r\n'));
      return socket;
    };
    const sockets = Array.from({ length: 5 }, hold);
    // One of them finds that the other four have used the share up.
    const [refused, answer] = await Promise.race(
      sockets.map(async (socket) => [socket, String((await once(socket, 'data'))[0])] as const),
    );
    assert.match(answer, /^HTTP\/1\.1 503 .*retry-after: 1/s);

    await assertRefusal(await gateway.chat(key.secret), BUSY);
    const sibling = await issueKey(bench.database, { organizationId: key.organizationId });
    await assertRefusal(await gateway.chat(sibling.secret), BUSY);
    for (let other = 0; other < 3; other += 1) {
      const { secret } = await issueKey(bench.database);
      assert.equal((await gateway.chat(secret)).status, 200);
    }

    const holding = sockets.filter((socket) => socket !== refused);
    holding[0]?.write('     ');
    assert.match(String((await once(holding[0] ?? refused, 'data'))[0]), /^HTTP\/1\.1 400 /);
    assert.equal((await gateway.chat(key.secret)).status, 200);
    for (const socket of sockets) socket.destroy();
  });
});
