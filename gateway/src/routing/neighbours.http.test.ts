import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { json, type Script, sse } from '../testing/mock-provider.ts';
import { addRoute, type IssuedKey, issueKey } from '../testing/test-gateway.ts';
import { askedDuring, credentialOf, endings, failing, served, useRouting } from './routing.fixture.ts';

// What an organisation's requests meet at a provider, and what another organisation's requests meet afterwards, with the
// same platform credential.

const bench = await useRouting();
const { gateway, first, second } = bench;

const BAD = 'the request that the provider does not take';
const error = { error: { message: 'no' } };
const rejected = (status: number, headers = {}) => json(error, status, headers);

/** Makes a provider fail for some requests and serve the others. */
const failsFor =
  (fault: Script): Script =>
  (response, asked) =>
    (asked.text.includes(BAD) ? fault : served)(response, asked);

const ask = async ({ secret }: IssuedKey, model: string, content = 'Hi') => {
  const response = await gateway.chat(secret, {
    model,
    max_tokens: 5,
    messages: [{ role: 'user', content }],
  });
  await response.text();
  return response;
};
const openedForAll = () =>
  gateway.logged.filter(
    (line) => line['event'] === 'upstream.opened' && line['organization_id'] === undefined,
  ).length;

// A status, or a fault, each with how often it takes to open the breaker of the organisation that meets it.
const FAULTS: readonly (readonly [name: string, fault: Script, requests: number])[] = [
  ['402', rejected(402), 1],
  ['403 of a moderated prompt or a file that it may not read', rejected(403), 1],
  ['429 with Retry-After: 120', rejected(429, { 'retry-after': '120' }), 1],
  ['429', rejected(429), 1],
  ['503 with Retry-After', rejected(503, { 'retry-after': '300' }), 1],
  ['500', failing, 5],
  ['529', rejected(529), 5],
  ['408', rejected(408), 5],
  ['an answer that is no completion', json('<html>'), 5],
  ['a connection that ends without an answer', (response) => void response.destroy(), 1],
];

describe('what the requests of one organisation meet', () => {
  let hostile: IssuedKey;
  let neighbour: IssuedKey;
  let third: IssuedKey;
  beforeEach(async () => {
    hostile = await issueKey(bench.database);
    neighbour = await issueKey(bench.database);
    third = await issueKey(bench.database);
  });

  for (const [name, fault, requests] of FAULTS) {
    it(`200 for a neighbour as before, beside ${name}`, async () => {
      const id = await bench.addTwo();
      first.script = failsFor(fault);
      const opened = openedForAll();
      const met = await askedDuring(first, async () => {
        for (let n = 0; n < requests + 20; n += 1)
          assert.equal((await ask(hostile, id, BAD)).status, 200, 'from the second target');
      });
      assert.equal(met.length, requests, 'its own breaker opens as with one organisation alone');
      const neighbours = await askedDuring(second, async () => {
        const asked = await askedDuring(first, async () => {
          for (let n = 0; n < 12; n += 1) assert.equal((await ask(neighbour, id)).status, 200);
        });
        assert.equal(asked.length, 12);
      });
      assert.equal(neighbours.length, 0, 'none went to the second target');
      assert.equal(openedForAll(), opened);
    });

    it(`200 from the second target for everyone, once two organisations have met ${name}`, async () => {
      const id = await bench.addTwo();
      first.script = fault;
      for (let n = 0; n < requests; n += 1) {
        await ask(hostile, id);
        await ask(neighbour, id);
      }
      const asked = await askedDuring(first, async () => {
        for (let n = 0; n < 5; n += 1) assert.equal((await ask(third, id)).status, 200);
      });
      assert.equal(asked.length, 0);

      first.script = served;
      gateway.time.advance(300_000);
      const recovered = await askedDuring(first, async () => {
        for (const key of [third, neighbour, hostile, third]) assert.equal((await ask(key, id)).status, 200);
      });
      assert.equal(recovered.length, 4);
    });
  }

  it('200 for a neighbour as before, beside streams that begin with an error', async () => {
    const id = await bench.addTwo();
    const event = sse(`data: ${JSON.stringify(error)}\n\n`);
    first.script = failsFor(event);
    const messages = [{ role: 'user', content: BAD }];
    for (let n = 0; n < 10; n += 1) {
      const response = await gateway.chat(hostile.secret, {
        model: id,
        max_tokens: 5,
        stream: true,
        messages,
      });
      await response.text();
    }
    const asked = await askedDuring(first, () => ask(neighbour, id));
    assert.equal(asked.length, 1);
  });

  it('200 for a neighbour as before, beside requests that get no content in time', async () => {
    const id = await bench.addTwo({ attemptTimeoutMs: 6_500 });
    first.script = failsFor(() => new Promise(() => {}));
    for (let n = 0; n < 5; n += 1) {
      const answering = ask(hostile, id, BAD);
      await gateway.time.started(6_500);
      gateway.time.fire(6_500);
      assert.equal((await answering).status, 200);
    }
    const asked = await askedDuring(first, async () => {
      await ask(hostile, id, BAD);
      await ask(neighbour, id);
    });
    assert.equal(asked.length, 1);
  });

  it('200 for a neighbour as before, when the other has no other target and goes on', async () => {
    const id = await bench.addTwo();
    await addRoute(bench.database, {
      id: `${id} alone`,
      provider: `${id} first`,
      baseUrl: first.baseUrl,
      apiKeyEnv: 'FIRST',
      maxOutputTokens: 100,
    });
    first.script = failsFor(rejected(429, { 'retry-after': '120' }));
    const asked = await askedDuring(first, async () => {
      for (let n = 0; n < 20; n += 1) {
        assert.equal((await ask(hostile, `${id} alone`, BAD)).status, 429);
        assert.equal((await ask(neighbour, id)).status, 200);
        gateway.time.advance(10_000);
      }
    });
    assert.equal(asked.length, 40);
  });

  it("200 after a refused connection: no request can have caused it, so that the neighbour's does not try", async () => {
    const id = await bench.addTwo();
    await addRoute(bench.database, {
      id: `${id} down`,
      maxOutputTokens: 100,
      targets: [
        { provider: `${id} down`, baseUrl: 'http://127.0.0.1:1/v1', apiKeyEnv: 'FIRST', priority: 1 },
        { provider: `${id} second`, baseUrl: second.baseUrl, apiKeyEnv: 'SECOND', priority: 2 },
      ],
    });
    const attempts = async (key: IssuedKey) => endings(await bench.recordOf(await ask(key, `${id} down`)));
    assert.deepEqual(await attempts(hostile), ['default unreachable', 'default served']);
    assert.deepEqual(await attempts(neighbour), ['default served']);
  });

  it('200 after 401 without the credential for everyone, until another organisation shows that it works', async () => {
    const id = await bench.addTwo();
    first.script = failsFor(rejected(401));
    await ask(hostile, id, BAD);
    const during = await askedDuring(first, () => ask(neighbour, id));
    assert.equal(during.length, 0);
    gateway.time.advance(1_000);
    const after = await askedDuring(first, async () => {
      for (let n = 0; n < 5; n += 1) await ask(neighbour, id);
      await ask(hostile, id);
    });
    assert.equal(after.length, 5, 'all but the one whose request was rejected');
  });

  it('200 after 401 for two organisations without the credential for five minutes', async () => {
    const id = await bench.addPool(['a', 'b']);
    first.script = (response, asked) =>
      (credentialOf(asked) === 'a' ? rejected(401) : served)(response, asked);
    const triedA = async (keys: readonly IssuedKey[]) => {
      const asked = await askedDuring(first, async () => {
        for (let n = 0; n < 12; n += 1)
          for (const { secret } of keys) {
            const response = await gateway.chat(secret, { model: id, user: `${n}` });
            assert.equal(response.status, 200);
            await response.text();
          }
      });
      return asked.filter((one) => credentialOf(one) === 'a').length;
    };
    assert.equal(await triedA([hostile, neighbour, third]), 1);
    gateway.time.advance(1_000);
    assert.equal(await triedA([neighbour, third]), 1);
    gateway.time.advance(298_000);
    assert.equal(await triedA([hostile, neighbour, third]), 0);
  });
});

describe('a breaker is for one surface', () => {
  const model = 'routing/surfaces';
  it('200 of counts, messages and embeddings, whatever the others meet', async () => {
    const key = await issueKey(bench.database);
    for (const [id, protocol, endpoints] of [
      [model, 'anthropic', ['messages']],
      [`${model}/chat`, 'openai', ['chat', 'embeddings']],
    ] as const)
      await addRoute(bench.database, {
        id,
        endpoints,
        maxOutputTokens: 100,
        targets: [
          { provider: `${id} first`, protocol, baseUrl: first.baseUrl, priority: 1 },
          { provider: `${id} second`, protocol, baseUrl: second.baseUrl, priority: 2 },
        ],
      });
    const messages = [{ role: 'user', content: 'Hi' }];
    const post = async (path: string, body: object) => {
      const response = await gateway.post(path, key.secret, body);
      await response.text();
    };
    const fails =
      (path: string): Script =>
      (response, asked) =>
        (asked.path.endsWith(path) ? rejected(429, { 'retry-after': '120' }) : served)(response, asked);

    first.script = fails('/count_tokens');
    for (let n = 0; n < 6; n += 1) await post('/v1/messages/count_tokens', { model, messages });
    const paid = await askedDuring(first, () => post('/v1/messages', { model, messages, max_tokens: 5 }));
    assert.deepEqual(
      paid.map(({ path }) => path),
      ['/v1/messages'],
    );

    const chat = `${model}/chat`;
    first.script = fails('/chat/completions');
    await post('/v1/chat/completions', { model: chat, messages });
    const asked = await askedDuring(first, async () => {
      await post('/v1/chat/completions', { model: chat, messages });
      await post('/v1/embeddings', { model: chat, input: 'Hi' });
    });
    assert.deepEqual(
      asked.map(({ path }) => path),
      ['/v1/embeddings'],
    );
  });
});
