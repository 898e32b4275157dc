import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { runSql } from '@gatehouse/store/testing';
import { assertError, useBench } from '../testing/bench.ts';
import { addRoute, issueKey } from '../testing/test-gateway.ts';

const bench = await useBench();

const NOT_ALLOWED = { status: 403, code: 'model_not_allowed', type: 'permission_error', param: 'model' };
const NOT_FOUND = { status: 404, code: 'model_not_found', type: 'invalid_request_error', param: 'model' };

describe('other names of a route', () => {
  before(async () => {
    const { database, provider } = bench;
    await addRoute(database, {
      id: 'openai/gpt-5-mini',
      baseUrl: provider.baseUrl,
      aliases: ['gpt-5-mini', 'small'],
    });
    await addRoute(database, {
      id: 'mock/off',
      baseUrl: provider.baseUrl,
      aliases: ['off'],
      isActive: false,
    });
    await addRoute(database, { id: 'mock/vectors', baseUrl: provider.baseUrl, endpoints: ['embeddings'] });
  });

  it('200 for an alias, which the request log keeps as the caller sent it', async () => {
    const response = await bench.gateway.chat(bench.key.secret, { model: 'gpt-5-mini' });
    assert.equal(response.status, 200);
    await response.text();
    await bench.assertRecord(response, { model: 'gpt-5-mini', upstreamModel: 'upstream-model' });
    assert.equal(bench.provider.asked.at(-1)?.body['model'], 'upstream-model');
  });

  it('200 with a key whose list has the route, by its id and by its alias', async () => {
    const key = await issueKey(bench.database, { allowedModels: ['openai/gpt-5-mini'] });
    for (const model of ['openai/gpt-5-mini', 'gpt-5-mini', 'small'])
      assert.equal((await bench.gateway.chat(key.secret, { model })).status, 200);
  });

  it('403 with a key whose list has an alias, which is no route', async () => {
    const key = await issueKey(bench.database, { allowedModels: ['small'] });
    for (const model of ['small', 'gpt-5-mini', 'openai/gpt-5-mini'])
      await assertError(await bench.gateway.chat(key.secret, { model }), NOT_ALLOWED);
  });

  it('403 for a restricted key is the same for each model that it may not use, there or not', async () => {
    const key = await issueKey(bench.database, { allowedModels: ['openai/gpt-5', 'mini'] });
    const messages = new Set<string>();
    for (const model of [
      'small',
      'openai/gpt-5-mini',
      'gpt-5-minj',
      'off',
      'mock/off',
      'mock/vectors',
      'none',
    ])
      messages.add(
        (await assertError(await bench.gateway.chat(key.secret, { model }), NOT_ALLOWED)).replace(model, ''),
      );
    assert.equal(messages.size, 1);
  });

  it('404 for an alias of an inactive route', async () => {
    await assertError(await bench.gateway.chat(bench.key.secret, { model: 'off' }), NOT_FOUND);
  });

  it('404 suggests the nearest model, and only one that the key may use', async () => {
    const ask = async (secret: string, model: string) =>
      assertError(await bench.gateway.chat(secret, { model }), NOT_FOUND);
    assert.match(await ask(bench.key.secret, 'gpt-5-minj'), /Did you mean gpt-5-mini\?/);
    assert.match(await ask(bench.key.secret, 'openai/gpt5-mini'), /Did you mean openai\/gpt-5-mini\?/);
    assert.doesNotMatch(await ask(bench.key.secret, 'nothing-like-it'), /Did you mean/);
    const key = await issueKey(bench.database, { allowedModels: ['mock/mode', 'mock/off'] });
    assert.doesNotMatch(await ask(key.secret, 'mock/mode'), /Did you mean/);
  });

  it('404 for a model of other endpoints names these', async () => {
    const response = await bench.gateway.chat(bench.key.secret, { model: 'mock/vectors' });
    assert.match(
      await assertError(response, NOT_FOUND),
      /does not serve this endpoint\. It serves embeddings\./,
    );
  });

  it('200 for a name that passed from a route, by now inactive, to another as its alias', async () => {
    await addRoute(bench.database, { id: 'old', baseUrl: bench.provider.baseUrl });
    await runSql(bench.database)`UPDATE routes SET is_active = false WHERE id = 'old'`;
    await runSql(bench.database)`INSERT INTO route_aliases (alias, route_id) VALUES ('old', 'mock/model')`;
    const response = await bench.gateway.chat(bench.key.secret, { model: 'old' });
    assert.equal(response.status, 200);
    await assert.rejects(
      runSql(bench.database)`UPDATE routes SET is_active = true WHERE id = 'old'`,
      /the name old is both an alias and the id of an active route/,
    );
  });
});
