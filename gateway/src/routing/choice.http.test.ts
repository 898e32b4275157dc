import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { json, type Script } from '../testing/mock-provider.ts';
import { addRoute } from '../testing/test-gateway.ts';
import { askedDuring, credentialOf, endings, failing, served, useRouting } from './routing.fixture.ts';

const bench = await useRouting();
const { gateway, key, first, second } = bench;

const ask = async (model: string, body: object = {}, headers: Record<string, string> = {}) => {
  const response = await gateway.chat(key.secret, { model, ...body }, { headers });
  await response.text();
  return response;
};

describe('the choice between credentials', () => {
  it('200 always from the same one within a session, however the session is named', async () => {
    const id = await bench.addPool(['a', 'b', 'c', 'd']);
    const credentialsFor = async (body: object, headers: Record<string, string>) => {
      const asked = await askedDuring(first, async () => {
        for (let n = 0; n < 5; n += 1) assert.equal((await ask(id, body, headers)).status, 200);
      });
      const names = new Set(asked.map(credentialOf));
      assert.equal(names.size, 1);
      return [...names][0];
    };
    const used = new Set<string | undefined>();
    for (let n = 0; n < 12; n += 1) {
      const session = `session ${n}`;
      const credential = await credentialsFor({}, { 'x-claude-code-session-id': session });
      assert.equal(await credentialsFor({}, { 'session-id': session }), credential);
      assert.equal(await credentialsFor({ prompt_cache_key: session }, {}), credential);
      assert.equal(await credentialsFor({ user: session }, {}), credential);
      used.add(credential);
    }
    assert.ok(used.size > 1, 'all sessions went to one credential');
  });

  it('200 from another one while that fails, and from the same one after', async () => {
    const id = await bench.addPool(['a', 'b', 'c']);
    const headers = { 'session-id': 'one' };
    const askOnce = async () => (await askedDuring(first, () => ask(id, {}, headers))).map(credentialOf);
    const [usual] = await askOnce();
    first.script = (response, asked) =>
      (credentialOf(asked) === usual ? json({}, 429, { 'retry-after': '20' }) : served)(response, asked);
    const [failed, other] = await askOnce();
    assert.equal(failed, usual);
    assert.notEqual(other, usual);
    assert.deepEqual(await askOnce(), [other]);
    first.script = served;
    assert.deepEqual(await askOnce(), [other]);
    gateway.time.advance(20_000);
    assert.deepEqual(await askOnce(), [usual]);
  });

  it('200 without the credential that the provider rejects, for five minutes', async () => {
    const id = await bench.addPool(['a', 'b']);
    first.script = (response, asked) =>
      (credentialOf(asked) === 'a' ? json({}, 401) : served)(response, asked);
    const asked = await askedDuring(first, async () => {
      for (let n = 0; n < 20; n += 1) assert.equal((await ask(id, {}, { 'session-id': `${n}` })).status, 200);
    });
    assert.equal(asked.filter((one) => credentialOf(one) === 'a').length, 1);
    gateway.time.advance(300_000);
    const later = await askedDuring(first, async () => {
      for (let n = 0; n < 20; n += 1) assert.equal((await ask(id, {}, { 'session-id': `${n}` })).status, 200);
    });
    assert.equal(later.filter((one) => credentialOf(one) === 'a').length, 1);
  });
});

describe('the choice between targets', () => {
  it('200 from the first, each with its own model and key', async () => {
    const id = await bench.addTwo();
    const asked = await askedDuring(first, () => ask(id));
    assert.deepEqual(asked.map(credentialOf), ['first']);
    assert.deepEqual(
      asked.map(({ body }) => body['model']),
      ['upstream-model'],
    );
  });

  it('200 from the second while the first must not be asked, which it is again when the time has come', async () => {
    const id = await bench.addTwo();
    first.script = json({}, 503, { 'retry-after': '30' });
    assert.deepEqual(endings(await bench.recordOf(await ask(id))), [
      'default error_status',
      'default served',
    ]);
    const during = await askedDuring(first, async () => {
      for (let n = 0; n < 5; n += 1) assert.equal((await ask(id)).status, 200);
    });
    assert.equal(during.length, 0);
    gateway.time.advance(30_000);
    first.script = served;
    assert.equal((await askedDuring(first, () => ask(id))).length, 1);
  });

  it('500 after as many attempts as the route allows', async () => {
    const id = await bench.addPool(['a', 'b', 'c', 'd', 'e'], { maxAttempts: 2 });
    first.script = failing;
    const response = await ask(id);
    assert.equal(response.status, 500);
    assert.equal((await bench.recordOf(response)).attempts.length, 2);
  });

  it('504 when the time of the route is up, whatever is left to try', async () => {
    const id = await bench.addTwo({ timeoutMs: 9_000, attemptTimeoutMs: 8_000 });
    const slow: Script = () => new Promise(() => {});
    first.script = slow;
    second.script = slow;
    const answering = ask(id);
    await gateway.time.started(8_000);
    gateway.time.advance(8_000);
    gateway.time.fire(8_000);
    // What is left of the nine seconds.
    await gateway.time.started(1_000);
    gateway.time.fire(1_000);
    const response = await answering;
    assert.equal(response.status, 504);
    assert.deepEqual(endings(await bench.recordOf(response)), ['default timed_out', 'default timed_out']);
  });

  it('500 as the first said it, where there is no memory to keep the body for another attempt', async () => {
    const id = await bench.addTwo();
    // An organisation has 16 MiB here, and each request takes two of them for as long as another attempt may follow.
    const requests = 12;
    const all = Promise.withResolvers<void>();
    let arrived = 0;
    first.script = async (response, asked) => {
      arrived += 1;
      if (arrived === requests) all.resolve();
      await all.promise;
      return failing(response, asked);
    };
    const content = 'x'.repeat(900_000);
    const answers = await Promise.all(
      Array.from({ length: requests }, async () => {
        const response = await ask(id, { messages: [{ role: 'user', content }] });
        return [response.status, ...endings(await bench.recordOf(response))].join();
      }),
    );
    const followed = '200,default error_status,default served';
    const last = '500,default error_status';
    assert.deepEqual(new Set(answers), new Set([followed, last]), answers.join(' '));
  });

  it('500 from a target that is the only one, however often it fails', async () => {
    const id = await bench.addPool(['only']);
    first.script = failing;
    const asked = await askedDuring(first, async () => {
      for (let n = 0; n < 12; n += 1) assert.equal((await ask(id)).status, 500);
    });
    assert.equal(asked.length, 12);
    first.script = json({}, 429, { 'retry-after': '60' });
    for (let n = 0; n < 3; n += 1) assert.equal((await ask(id)).status, 429);
  });

  it('500 from targets that all fail: that they will is only likely, so each is tried', async () => {
    const id = await bench.addTwo();
    first.script = failing;
    second.script = failing;
    for (let n = 0; n < 12; n += 1) {
      const response = await ask(id);
      assert.equal(response.status, 500);
      assert.equal((await bench.recordOf(response)).attempts.length, 2, `request ${n}`);
    }
    first.script = served;
    assert.equal((await ask(id)).status, 200);
  });

  it('200 from a target that is called in another format, where the first fails', async () => {
    await addRoute(bench.database, {
      id: 'routing/formats',
      endpoints: ['messages'],
      targets: [
        { provider: 'formats anthropic', protocol: 'anthropic', baseUrl: first.baseUrl, priority: 1 },
        { provider: 'formats openai', protocol: 'openai', baseUrl: second.baseUrl, priority: 2 },
      ],
    });
    first.script = failing;
    second.script = served;
    const body = { model: 'routing/formats', max_tokens: 7, messages: [{ role: 'user', content: 'Hi' }] };
    const [asked] = await askedDuring(second, async () => {
      const response = await gateway.post('/v1/messages', key.secret, body);
      const answer = (await response.json()) as { content: { text: string }[] };
      assert.equal(answer.content[0]?.text, 'Hello there.');
    });
    assert.equal(asked?.path, '/v1/chat/completions');
    assert.equal(asked?.body['max_completion_tokens'], 7);
    assert.equal(first.asked.at(-1)?.path, '/v1/messages');
    assert.equal(first.asked.at(-1)?.body['max_tokens'], 7);
  });
});
