import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { activity, analytics, auth, keys, organization } from '@gatehouse/contract';
import { ApiClient } from '@gatehouse/control-plane/testing';
import {
  chunk,
  completion,
  delta,
  json,
  type MockProvider,
  sse,
  startMockProvider,
} from '@gatehouse/gateway/testing';
import OpenAI from 'openai';
import { eventually, type ServiceProcess, startService } from '../service-process.ts';

// The main use, from nothing to a metered request and its records, on the service as a user starts it, with the
// unmodified OpenAI SDK and a provider that is a real HTTP server. The steps build on each other.

describe('from a clean installation to a first metered request', () => {
  const stack = new AsyncDisposableStack();
  let service: ServiceProcess;
  let provider: MockProvider;
  let api: ApiClient;
  let openai: OpenAI;
  let keyId: string;
  let keyPrefix: string;

  before(async () => {
    const directory = await mkdtemp(join(tmpdir(), 'gatehouse-journey-'));
    stack.defer(() => rm(directory, { recursive: true, force: true }));
    provider = stack.use(await startMockProvider());
    const catalogue = join(directory, 'catalogue.yaml');
    await writeFile(
      catalogue,
      `providers:
  mock: { protocol: openai, base_url: "${provider.baseUrl}", api_key_env: MOCK_API_KEY }
routes:
  - id: mock/small
    provider: mock
    upstream_model: small-2026
    price_pkr_per_million: { input: 70, output: 560 }
    max_output_tokens: 1000
`,
    );
    service = stack.use(
      await startService(
        { DATA_DIR: join(directory, 'data'), CATALOGUE: catalogue, MOCK_API_KEY: 'the-platforms-own-key' },
        [],
        { makesStores: true },
      ),
    );
    api = new ApiClient(service.apiPort);
  });
  after(() => stack.disposeAsync());

  it('registers and signs in', async () => {
    const credentials = { email: 'ada@example.com', password: 'correct horse battery staple' };
    const registered = await api.call(auth.register, { body: { ...credentials, organization_name: 'Acme' } });
    assert.equal(registered.user.role, 'owner');
    const { organization: own } = await api.call(auth.login, { body: credentials });
    assert.deepEqual(own, registered.organization);
    assert.deepEqual(await api.call(auth.me), registered);
  });

  it('names the dashboard and serves it, on the port of the API alone', async () => {
    const address = `http://127.0.0.1:${service.apiPort}`;
    assert.match(service.told(), new RegExp(`Dashboard +${address}\n`));
    const headers = { accept: 'text/html' };
    const page = await fetch(`${address}/`, { headers });
    assert.match(await page.text(), /^<!doctype html>/);
    const atGateway = await fetch(`http://127.0.0.1:${service.gatewayPort}/`, { headers });
    assert.doesNotMatch(await atGateway.text(), /html/);
  });

  it('mints a key in the first project', async () => {
    const { projects } = await api.call(organization.listProjects);
    assert.deepEqual(
      projects.map((project) => project.name),
      ['Default'],
    );
    const minted = await api.call(keys.createKey, {
      body: { project_id: projects[0]?.id, name: 'first', allowed_models: ['mock/small'] },
    });
    keyId = minted.id;
    keyPrefix = minted.key_prefix;
    openai = new OpenAI({
      baseURL: `http://127.0.0.1:${service.gatewayPort}/v1`,
      apiKey: minted.api_key,
      maxRetries: 0,
      defaultHeaders: { 'X-SVC-Meta-Team': 'search', 'User-Agent': 'journey/1.0' },
    });
  });

  it('sees only the models the key may use', async () => {
    const models = await Array.fromAsync(await openai.models.list());
    assert.deepEqual(
      models.map((model) => model.id),
      ['mock/small'],
    );
  });

  it('sends a chat request with the OpenAI SDK, as JSON and as a stream', async () => {
    provider.script = json(completion('Good morning.', { prompt: 12, completion: 4 }));
    const answer = await openai.chat.completions.create({
      model: 'mock/small',
      messages: [{ role: 'user', content: 'Hello' }],
    });
    assert.equal(answer.choices[0]?.message.content, 'Good morning.');

    provider.script = sse(
      chunk(delta('Good ')),
      chunk(delta('evening.', 'stop')),
      chunk({ choices: [], usage: { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25 } }),
      'data: [DONE]\n\n',
    );
    let text = '';
    const stream = await openai.chat.completions.create({
      model: 'mock/small',
      messages: [{ role: 'user', content: 'Hello again' }],
      stream: true,
    });
    for await (const chunk of stream) text += chunk.choices[0]?.delta?.content ?? '';
    assert.equal(text, 'Good evening.');

    assert.equal(provider.asked.length, 2);
    for (const asked of provider.asked) {
      assert.equal(asked.headers.authorization, 'Bearer the-platforms-own-key');
      assert.equal(asked.body['model'], 'small-2026');
    }
  });

  it('sees both requests in the analytics with their tokens and their cost', async () => {
    const page = await eventually(async () => {
      const answer = await api.call(analytics.listRequests);
      return answer.total >= 2 ? answer : undefined;
    });
    assert.equal(page.total, 2);
    const [streamed, plain] = page.requests;
    assert.deepEqual(
      [plain?.metrics.prompt_tokens, plain?.metrics.tokens_generated, plain?.metrics.total_tokens],
      [12, 4, 16],
    );
    // 12 x 70 + 4 x 560 micro-PKR, and 20 x 70 + 5 x 560.
    assert.equal(plain?.financials.cost_pkr, 0.00308);
    assert.equal(streamed?.financials.cost_pkr, 0.0042);
    assert.equal(plain?.metrics.ttft_ms, null);
    assert.equal(typeof streamed?.metrics.ttft_ms, 'number');
    for (const row of page.requests) {
      assert.equal(row.model, 'mock/small');
      assert.deepEqual(row.upstream, { model: 'small-2026' });
      assert.deepEqual(row.key, { id: keyId, name: 'first' });
      assert.equal(row.project?.name, 'Default');
      assert.deepEqual(row.metadata, { team: 'search' });
      assert.equal(row.user_agent, 'journey/1.0');
      assert.equal(row.status_detail.termination_reason, 'success');
    }
    const summary = await api.call(analytics.getSummary, { query: { key_id: keyId } });
    assert.equal(summary.total_requests, 2);
    assert.equal(summary.total_token_usage, 41);
    assert.equal(summary.total_cost_pkr, 0.00728);
    // An insert reaches the log a moment before it reaches this view.
    await eventually(async () => (await api.call(keys.listKeys)).keys[0]?.last_used_at ?? undefined);
  });

  it('revokes the key and is refused from the next request', async () => {
    await api.call(keys.revokeKey, { params: { key_id: keyId } });
    await assert.rejects(
      openai.chat.completions.create({
        model: 'mock/small',
        messages: [{ role: 'user', content: 'Still there?' }],
      }),
      (error) => {
        assert.ok(error instanceof OpenAI.AuthenticationError);
        assert.equal(error.status, 401);
        assert.equal(error.code, 'invalid_api_key');
        return true;
      },
    );
    assert.deepEqual((await api.call(keys.listKeys)).keys, []);
  });

  it('reads all of it in the activity log', async () => {
    const { events } = await api.call(activity.listActivity);
    assert.deepEqual(
      events.map(({ actor, action, target }) => [actor, action, target]),
      [
        ['ada@example.com', 'api_key.revoked', keyPrefix],
        ['ada@example.com', 'api_key.created', keyPrefix],
        ['ada@example.com', 'user.login', 'ada@example.com'],
        [null, 'budget.deposited', '1000.00 PKR'],
        ['ada@example.com', 'member.joined', 'ada@example.com'],
      ],
    );
  });

  it('leaves no secret in the log, and one line for each request', async () => {
    const linesOf = () => service.logLines.filter((line) => line['msg'] === 'request');
    // Two answered requests and one refused request; a gateway process writes its lines after the answers.
    const calls = () => linesOf().filter((line) => line['operation'] === 'createChatCompletion').length;
    await eventually(async () => calls() >= 3 || undefined);
    const text = JSON.stringify(service.logLines);
    for (const secret of [openai.apiKey, 'correct horse battery staple', 'the-platforms-own-key']) {
      assert.ok(!text.includes(String(secret)));
    }
    for (const token of api.cookies.values()) assert.ok(!text.includes(token));
    const lines = linesOf();
    const ids = lines.map((line) => line['request_id']);
    assert.equal(new Set(ids).size, ids.length);
    const countOf = (operation: string) => lines.filter((line) => line['operation'] === operation).length;
    assert.equal(calls(), 3);
    assert.equal(countOf('listModels'), 1);
    assert.equal(countOf('createKey'), 1);
  });

  it('stops cleanly on SIGTERM', async () => {
    assert.equal(await service.end('SIGTERM'), 0);
    assert.match(service.told(), /Gatehouse is ready/);
    assert.match(service.told(), /Stopped\.\n$/);
  });
});
