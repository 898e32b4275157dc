import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertError } from '../testing/bench.ts';
import { json } from '../testing/mock-provider.ts';
import { askedDuring, endings, served, useRouting } from './routing.fixture.ts';

const bench = await useRouting();
const { gateway, key, first, second } = bench;
const limited = json({ error: { message: 'slow down' } }, 429, { 'retry-after': '20' });

const ask = (model: string, init: RequestInit = {}) => gateway.chat(key.secret, { model }, init);

/** Both providers have said that they must not be asked for twenty seconds. */
async function addCooling(queueMs: number): Promise<string> {
  const id = await bench.addTwo({ queueMs });
  first.script = limited;
  second.script = limited;
  const response = await ask(id);
  assert.equal(response.status, 429);
  await response.text();
  first.script = served;
  second.script = served;
  return id;
}

describe('a request that no provider may be asked for now', () => {
  it('503 with the time until one may be', async () => {
    const id = await addCooling(0);
    gateway.time.advance(5_500);
    let response: Response | undefined;
    const asked = await askedDuring(first, async () => {
      response = await ask(id);
    });
    assert.ok(response);
    assert.equal(asked.length, 0);
    assert.equal(response.headers.get('retry-after'), '15');
    const record = await bench.recordOf(response);
    const message = await assertError(response, {
      status: 503,
      code: 'upstream_unavailable',
      type: 'upstream_error',
    });
    assert.equal(message, `No provider of the model ${id} takes requests now. Try again in 15 s.`);
    assert.deepEqual([record.costMicroPkr, record.attempts, record.isHeld], [0n, [], true]);
  });

  it('200 when one may be asked again within the time that the route waits', async () => {
    const id = await addCooling(25_000);
    const answering = ask(id);
    await gateway.time.started(20_000);
    gateway.time.advance(20_000);
    gateway.time.fire(20_000);
    const response = await answering;
    assert.equal(response.status, 200);
    assert.deepEqual(endings(await bench.recordOf(response)), ['default served']);
  });

  it('503 when none may be by then', async () => {
    const id = await addCooling(12_000);
    const answering = ask(id);
    await gateway.time.started(12_000);
    gateway.time.advance(12_000);
    gateway.time.fire(12_000);
    const response = await answering;
    assert.equal(response.status, 503);
    assert.equal(response.headers.get('retry-after'), '8');
  });

  it('200 for all that wait, when the one that tries first has been answered', async () => {
    const id = await addCooling(33_000);
    let answer = () => {};
    first.script = async (response, asked) => {
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
      return served(response, asked);
    };
    second.script = limited;
    const answering = Array.from({ length: 5 }, () => ask(id));
    await gateway.time.running(20_000, 5);
    const tried = first.next();
    gateway.time.advance(20_000);
    gateway.time.fire(20_000);
    await tried;
    first.script = served;
    answer();
    for (const response of await Promise.all(answering)) assert.equal(response.status, 200);
  });

  it('503 at once where a hundred of the organisation wait already', async () => {
    const id = await addCooling(26_000);
    const stop = new AbortController();
    const waiting = Array.from({ length: 100 }, () =>
      ask(id, { signal: stop.signal }).catch(() => undefined),
    );
    await gateway.time.running(20_000, 100);
    const response = await ask(id);
    assert.equal(response.status, 503);
    stop.abort();
    await Promise.all(waiting);
    await gateway.time.running(20_000, 0);
    const answering = ask(id);
    await gateway.time.started(20_000);
    gateway.time.advance(20_000);
    gateway.time.fire(20_000);
    assert.equal((await answering).status, 200);
  });

  it('499 when the caller leaves meanwhile; nothing is sent and nothing is paid', async () => {
    const id = await addCooling(27_000);
    const stop = new AbortController();
    const asked = await askedDuring(first, async () => {
      const answering = ask(id, { signal: stop.signal });
      await gateway.time.started(20_000);
      const before = gateway.journal.records.length;
      stop.abort();
      await assert.rejects(answering);
      await gateway.journal.count(before + 1);
    });
    assert.equal(asked.length, 0);
    const record = gateway.journal.records.at(-1);
    assert.deepEqual(
      [record?.status, record?.terminationReason, record?.costMicroPkr, record?.attempts],
      [499, 'client_disconnect', 0n, []],
    );
  });

  it('503 when the gateway stops meanwhile', async () => {
    const id = await addCooling(28_000);
    const answering = ask(id);
    await gateway.time.started(20_000);
    const closing = gateway.gateway.close({ graceMs: 0 });
    const response = await answering;
    assert.equal(response.status, 503);
    await closing;
  });
});
