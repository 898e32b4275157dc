import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { assertError, requestIdOf, useBench } from '../testing/bench.ts';
import { addRoute, issueKey } from '../testing/test-gateway.ts';

const bench = await useBench();

const NOT_FOUND = { status: 404, code: 'model_not_found', type: 'invalid_request_error', param: 'model' };

describe('GET /v1/models/{id}', () => {
  before(async () => {
    await addRoute(bench.database, { id: 'a/deep/model', aliases: ['claude-opus-4-8'] });
    await addRoute(bench.database, { id: 'a/inactive', isActive: false, aliases: ['idle'] });
    await addRoute(bench.database, { id: 'a/100%25', endpoints: ['chat'] });
  });
  const show = (path: string, secret = bench.key.secret, headers: Record<string, string> = {}) =>
    bench.gateway.fetch(`/v1/models/${path}`, { headers: { 'x-api-key': secret, ...headers } });

  for (const [path, id, route] of [
    ['mock/model', 'mock/model', 'mock/model'],
    ['mock%2Fmodel', 'mock/model', 'mock/model'],
    ['mock%2fmodel?beta=true', 'mock/model', 'mock/model'],
    ['a/deep/model', 'a/deep/model', 'a/deep/model'],
    ['a/deep%2Fmodel', 'a/deep/model', 'a/deep/model'],
    ['claude-opus-4-8', 'claude-opus-4-8', 'a/deep/model'],
    ['a%2F100%2525', 'a/100%25', 'a/100%25'],
  ] as const) {
    it(`200 at ${path}, with the entry of the list`, async () => {
      const response = await show(path);
      assert.equal(response.status, 200);
      const model = (await response.json()) as { id: string; route: string };
      assert.deepEqual([model.id, model.route], [id, route]);
      const list = await bench.gateway.fetch('/v1/models', { headers: { 'x-api-key': bench.key.secret } });
      const { data } = (await list.json()) as { data: { id: string }[] };
      assert.deepEqual(
        model,
        data.find((one) => one.id === id),
      );
    });
  }

  for (const path of ['none', 'a/inactive', 'idle', '%ff', '%', `x${'y'.repeat(300)}`, '%00', 'mock/model/'])
    it(`404 at ${path.slice(0, 20)}`, async () => {
      await assertError(await show(path), NOT_FOUND);
      const response = await show(path, bench.key.secret, { 'anthropic-version': '2023-06-01' });
      const { error, ...envelope } = (await response.json()) as { error: { type: string } };
      assert.equal(response.status, 404);
      assert.deepEqual(envelope, { type: 'error', request_id: requestIdOf(response) });
      assert.equal(error.type, 'not_found_error');
    });

  it('404 that names the nearest model, only of those that the key may use', async () => {
    const message = await assertError(await show('claude-opus-4.8'), NOT_FOUND);
    assert.match(message, /Did you mean claude-opus-4-8\?/);
    const { secret } = await issueKey(bench.database, { allowedModels: ['mock/model'] });
    const told = await assertError(await show('claude-opus-4.8', secret), NOT_FOUND);
    assert.doesNotMatch(told, /Did you mean/);
    // What exists and what does not answer alike.
    const existing = await assertError(await show('claude-opus-4-8', secret), NOT_FOUND);
    assert.equal(existing.replaceAll('4-8', '4.8'), told);
  });

  it('404 at /v1/models/, 401 without a key, 405 for another method, and never a row in the log', async () => {
    assert.equal((await show('')).status, 404);
    assert.equal((await bench.gateway.fetch('/v1/models/mock/model')).status, 401);
    assert.equal((await bench.gateway.fetch('/v1/models/mock/model', { method: 'DELETE' })).status, 405);
    assert.equal(bench.gateway.journal.records.length, 0);
  });
});

describe('a key in place of the id', () => {
  it('404, masked in the answer and in the log', async () => {
    const { secret, prefix } = bench.key;
    const response = await bench.gateway.fetch(`/v1/models/${secret}`, { headers: { 'x-api-key': secret } });
    assert.equal(response.status, 404);
    const text = await response.text();
    assert.ok(text.includes(`${prefix}…`) && !text.includes(secret.slice(0, 18)));
    assert.ok(!JSON.stringify(bench.gateway.logged).includes(secret.slice(0, 18)));
  });
});

describe('GET /v1/model/info', () => {
  it('200 with the models that the key may use, in the form of LiteLLM, without prices', async () => {
    await addRoute(bench.database, { id: 'i/vectors', endpoints: ['embeddings'] });
    await addRoute(bench.database, { id: 'i/chat', aliases: ['chatty'], maxInputTokens: 9_000 });
    const { secret } = await issueKey(bench.database, { allowedModels: ['i/chat', 'i/vectors'] });
    const response = await bench.gateway.fetch('/v1/model/info', {
      headers: { authorization: `Bearer ${secret}` },
    });
    assert.equal(response.status, 200);
    const chat = (name: string) => ({
      model_name: name,
      litellm_params: { model: 'i/chat' },
      model_info: {
        id: name,
        key: 'i/chat',
        litellm_provider: 'provider of i/chat',
        mode: 'chat',
        max_tokens: 1_000,
        max_output_tokens: 1_000,
        max_input_tokens: 9_000,
      },
    });
    assert.deepEqual(await response.json(), {
      data: [
        chat('chatty'),
        chat('i/chat'),
        {
          model_name: 'i/vectors',
          litellm_params: { model: 'i/vectors' },
          model_info: {
            id: 'i/vectors',
            key: 'i/vectors',
            litellm_provider: 'provider of i/vectors',
            mode: 'embedding',
            max_tokens: 1_000,
            max_output_tokens: 1_000,
          },
        },
      ],
    });
    assert.equal((await bench.gateway.fetch('/v1/model/info')).status, 401);
  });
});
