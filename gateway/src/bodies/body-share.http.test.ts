import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { before, describe, it } from 'node:test';
import { useBench } from '../testing/bench.ts';
import { completion, json } from '../testing/mock-provider.ts';
import { type IssuedKey, issueKey } from '../testing/test-gateway.ts';

const LIMIT = 4 * 1024 * 1024;

const bench = await useBench({ bodyLimitBytes: LIMIT });

describe('organisations that hold large bodies open', () => {
  before(async () => {
    bench.provider.script = json(completion('x', { prompt: 1, completion: 1 }));
  });

  /** An upload that never ends. */
  const hold = ({ secret }: IssuedKey) => {
    const socket = connect(bench.gateway.port, '127.0.0.1');
    socket.on('error', () => {});
    const head = ['POST /v1/chat/completions HTTP/1.1', 'host: x', `authorization: Bearer ${secret}`];
    socket.write([...head, `content-length: ${LIMIT}`, '', ' '.repeat(LIMIT - 1)].join('\r\n'));
    return socket;
  };

  it('200 for every small request, of others and of themselves, and for a large one of a newcomer', {
    timeout: 60_000,
  }, async () => {
    const holders = await Promise.all(Array.from({ length: 4 }, () => issueKey(bench.database)));
    const sockets = holders.flatMap((key) => Array.from({ length: 4 }, () => hold(key)));
    // Sixteen bodies of the largest size are all there is: one finds that the others have used up what it may have.
    const answer = await Promise.race(sockets.map(async (socket) => String((await once(socket, 'data'))[0])));
    assert.match(answer, /^HTTP\/1\.1 503 .*retry-after: 1.*memory/s);

    const newcomer = await issueKey(bench.database);
    for (let round = 0; round < 8; round += 1) {
      for (const { secret } of [...holders, newcomer]) {
        const response = await bench.gateway.chat(secret);
        assert.equal(response.status, 200);
        await response.text();
      }
    }
    const messages = [{ role: 'user', content: 'word '.repeat(LIMIT / 10) }];
    assert.equal((await bench.gateway.chat(newcomer.secret, { messages })).status, 200);
    for (const socket of sockets) socket.destroy();
  });
});
