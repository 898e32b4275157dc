import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { useRouting } from '../routing/routing.fixture.ts';
import { json } from '../testing/mock-provider.ts';

const routing = await useRouting();
const { gateway } = routing;
const PROMPT = 'a prompt that a provider repeats';
const INFO = 30;
const WARN = 40;

async function lineOf(model: string): Promise<Record<string, unknown>> {
  const answer = await gateway.chat(routing.key.secret, { model });
  await answer.text();
  const id = answer.headers.get('x-request-id');
  const [line, ...more] = gateway.logged.filter(
    ({ msg, request_id }) => msg === 'request' && request_id === id,
  );
  assert.ok(line);
  assert.equal(more.length, 0);
  return line;
}

describe('the log line of a request that a provider fails', () => {
  it('502 is a warning that names the provider and the reason, without its words', async () => {
    const model = await routing.addTwo();
    routing.first.script = json({ error: { message: `overloaded by: ${PROMPT}` } }, 503);
    routing.second.script = json({ error: { message: PROMPT } }, 500);
    const line = await lineOf(model);
    assert.deepEqual(
      [line['level'], line['status'], line['failed_provider'], line['failure'], line['attempts']],
      [WARN, 500, `${model} second`, 'answered 500', 2],
    );
    assert.ok(!JSON.stringify(gateway.logged).includes(PROMPT));
  });

  it('200 is a warning where the first attempt failed', async () => {
    const model = await routing.addTwo();
    routing.first.script = (response) => void response.destroy();
    const line = await lineOf(model);
    assert.deepEqual(
      [line['level'], line['status'], line['failed_provider'], line['failure'], line['attempts']],
      [WARN, 200, `${model} first`, 'could not be reached: the connection broke', 2],
    );
  });

  it('400 of a provider is not its failure', async () => {
    const model = await routing.addTwo();
    routing.first.script = json({ error: { message: 'no such tool' } }, 400);
    const line = await lineOf(model);
    assert.deepEqual([line['level'], line['status'], line['failure']], [INFO, 400, undefined]);
  });
});

describe('the log line of a probe', () => {
  it('200 is for LOG_LEVEL=debug only', async () => {
    const before = gateway.logged.length;
    for (const path of ['/healthz', '/readyz', '/', '/api/hello']) await gateway.fetch(path);
    assert.deepEqual(new Set(gateway.logged.slice(before).map(({ level }) => level)), new Set([20]));
  });
});
