import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, it } from 'node:test';
import { type UnreadAnswer, UnreadAnswers } from '@gatehouse/http';
import { READ_ON_MS } from '../attempt/read-on.ts';
import { waitUntil } from '../journal/testing/wait-until.ts';
import { assertError, useBench } from '../testing/bench.ts';
import { chunk, completion, DONE, delta, json, usageOf } from '../testing/mock-provider.ts';
import { addRoute, issueKey, startTestGateway } from '../testing/test-gateway.ts';

const MIB = 1024 * 1024;
const RETRY_MS = 100;
const large = JSON.stringify(completion('x'.repeat(15 * MIB), { prompt: 9, completion: 900 }));

// One organisation may have 16 MiB in memory at once, so one of the large answers.
const bench = await useBench({ bodyLimitBytes: 4 * MIB });

class WatchedAnswers extends UnreadAnswers {
  readonly stalled = new Set<UnreadAnswer>();

  override keep(answer: UnreadAnswer, bytes: number): void {
    this.stalled.add(answer);
    super.keep(answer, bytes);
  }
}

describe('callers that do not take their answers', () => {
  const sockets: Socket[] = [];
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
  });

  /** Sends a request, and reads what comes up to the first bytes of its answer. */
  const stall = async (secret: string, members = ''): Promise<Socket> => {
    const body = `{"model":"mock/model"${members},"messages":[{"role":"user","content":"Hi"}]}`;
    const socket = connect(bench.gateway.port, '127.0.0.1');
    sockets.push(socket);
    socket.on('error', () => {});
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${secret}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    await once(socket, 'readable');
    return socket;
  };

  it('503 for another of the same organisation after half a minute, billed; 200 for others', async () => {
    const { time, journal } = bench.gateway;
    const key = await issueKey(bench.database);
    bench.provider.script = json(large);
    await stall(key.secret);
    const noRoom = time.started(RETRY_MS);
    const second = bench.gateway.chat(key.secret);
    await noRoom;

    // Another organisation has room of its own, and what is small needs none.
    assert.equal((await (await bench.gateway.chat(bench.key.secret)).text()).length, large.length);
    bench.provider.script = json(completion('small', { prompt: 1, completion: 1 }));
    assert.equal((await bench.gateway.chat(key.secret)).status, 200);

    time.advance(30_000);
    time.fire(RETRY_MS);
    const response = await second;
    await assertError(response, { status: 503, code: 'service_unavailable', type: 'server_error' });
    await bench.assertRecord(response, {
      tokensGenerated: 900,
      tokensEstimated: false,
      terminationReason: 'proxy_guillotine',
      upstreamError: 'there was no memory left for the answer',
    });
    assert.ok(journal.records.length > 0);
  });

  it('200 for another as soon as the first has had its time', async () => {
    const { time } = bench.gateway;
    const key = await issueKey(bench.database);
    bench.provider.script = json(large);
    const first = await stall(key.secret);
    const noRoom = time.started(RETRY_MS);
    const second = bench.gateway.chat(key.secret);
    await noRoom;
    time.fireLongest();
    first.resume();
    await once(first, 'close');
    time.fire(RETRY_MS);
    assert.equal((await (await second).text()).length, large.length);
  });

  it('is left in the middle of a stream, which is read on and billed by its usage', async () => {
    const { time, journal } = bench.gateway;
    const event = chunk(delta('x'.repeat(60_000)));
    bench.provider.script = async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (let sent = 0; sent < 200; sent += 1) {
        if (!response.write(event)) await once(response, 'drain');
      }
      response.end(chunk({ choices: [], usage: usageOf({ prompt: 9, completion: 900 }) }) + DONE);
    };
    const records = journal.records.length;
    // 64 KiB of buffers and an event wait for it: half a minute and sixteen seconds.
    const waits = time.started(46_000);
    await stall(bench.key.secret, ',"stream":true');
    await waits;
    const readsOn = time.started(READ_ON_MS);
    time.fire(46_000);
    await readsOn;
    await journal.count(records + 1);
    const { tokensGenerated, terminationReason, status } = journal.records.at(-1) ?? assert.fail();
    assert.deepEqual([tokensGenerated, terminationReason, status], [900, 'client_disconnect', 200]);
  });

  it('lose the connections that have read nothing for longest where the documents of an organisation are too many', async () => {
    const aliases = Array.from({ length: 1_000 }, (_, number) => `${number}-${'m'.repeat(240)}`);
    await addRoute(bench.database, { id: 'long/names', baseUrl: bench.provider.baseUrl, aliases });
    const unreadAnswers = new WatchedAnswers({ limitBytes: 8 * MIB, shareBytes: MIB / 2 });
    await using gateway = await startTestGateway(bench.database, { unreadAnswers });
    const [key, other] = [await issueKey(bench.database), await issueKey(bench.database)];
    /** Asks for the list again and again, and reads nothing. */
    const ask = (secret: string) => {
      const socket = connect(gateway.port, '127.0.0.1');
      sockets.push(socket);
      socket.on('error', () => {});
      socket.write(`GET /v1/models HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${secret}\r\n\r\n`.repeat(9));
    };
    ask(other.secret);
    await waitUntil('a full connection', () => unreadAnswers.stalled.size === 1);
    const ofOther = unreadAnswers.bytes;
    for (let connections = 0; connections < 8; connections += 1) ask(key.secret);
    await waitUntil('full connections', () => unreadAnswers.stalled.size === 9);
    const closed = [...unreadAnswers.stalled].filter((answer) => answer.isClosed);
    assert.deepEqual(
      [closed.length, new Set(closed.map(({ owner }) => owner))],
      [7, new Set([key.organizationId])],
    );
    assert.ok(unreadAnswers.bytes <= ofOther + MIB, `${unreadAnswers.bytes} bytes`);
    const authorization = `Bearer ${key.secret}`;
    const list = await gateway.fetch('/v1/models', { headers: { authorization } });
    assert.ok(((await list.json()) as { data: unknown[] }).data.length === 1_000);
  });
});
