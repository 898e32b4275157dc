import assert from 'node:assert/strict';
import { afterEach, before, describe, it } from 'node:test';
import { type Asked, addRoute, assertNoDelays, issueKey, useBench } from '@gatehouse/gateway/testing';
import { type ModelAnswer, model, USAGE } from './model.ts';
import { type Question, SDK_CLIENTS, TOOL } from './sdks/index.ts';
import { unspliced } from './unspliced.ts';

// Every SDK against routes of every protocol, native and translated: the same table of features for all.

const bench = await useBench();

const ROUTES = [
  { id: 'native/messages', protocol: 'anthropic', surface: 'messages' },
  { id: 'native/chat', protocol: 'openai', surface: 'chat' },
  { id: 'native/responses', protocol: 'openai', surface: 'responses' },
] as const;
const PATHS = { chat: '/v1/chat/completions', responses: '/v1/responses', messages: '/v1/messages' } as const;
// The smallest valid PNG.
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const CITIES = [{ city: 'Lahore' }, { city: 'Karachi' }];

describe('SDKs, with only their address and key changed', () => {
  before(async () => {
    const { baseUrl } = bench.provider;
    const all = {
      baseUrl,
      endpoints: ['chat', 'responses', 'messages'],
      maxInputTokens: 400_000,
      maxOutputTokens: 64_000,
    };
    for (const { id, protocol, surface } of ROUTES) {
      const flags = { surfaces: { [surface]: PATHS[surface].slice(3) } };
      await addRoute(bench.database, { ...all, id, protocol, flags });
    }
  });
  afterEach(async () => {
    bench.provider.asked.length = 0;
    await assertNoDelays(bench.gateway.time);
  });

  for (const client of SDK_CLIENTS) {
    for (const route of ROUTES) {
      it(`${client.name} on a route of ${route.surface}`, async () => {
        const key = await issueKey(bench.database);
        const sent: { readonly path: string; readonly text: string }[] = [];
        const recording: typeof fetch = async (input, init) => {
          const url = String(input instanceof Request ? input.url : input);
          const body = init?.body ?? (input instanceof Request ? await input.clone().text() : '');
          sent.push({ path: new URL(url).pathname, text: typeof body === 'string' ? body : '' });
          return fetch(input, init);
        };
        const open = await client.open({
          port: bench.gateway.port,
          secret: key.secret,
          maxRetries: 0,
          fetch: recording,
        });
        const question: Question = { model: route.id, prompt: 'Hi there' };

        bench.provider.script = model(() => ({ text: 'Hé☕ there.' }));
        assert.equal((await open.ask(question)).text, 'Hé☕ there.');

        const pieces: string[] = [];
        const streamed = await open.stream(question, (piece) => pieces.push(piece));
        assert.deepEqual([streamed.text, pieces.join('')], ['Hé☕ there.', 'Hé☕ there.']);
        assert.ok(pieces.length >= 2, 'piece by piece');

        bench.provider.script = model(() => ({ calls: CITIES.map((input) => ({ name: TOOL.name, input })) }));
        const withTools = { ...question, withTools: true };
        for (const reply of [await open.ask(withTools), await open.stream(withTools, () => {})]) {
          assert.deepEqual(
            reply.calls.map(({ name, input }) => ({ name, input })),
            CITIES.map((input) => ({ name: TOOL.name, input })),
          );
          assert.equal(new Set(reply.calls.map(({ id }) => id)).size, 2);
          bench.provider.script = model((asked) => ({
            text: asked.text.includes('38 degrees') ? 'Hot.' : 'What?',
          }));
          const results = reply.calls.map((call) => ({ ...call, result: '38 degrees' }));
          assert.equal((await open.ask({ ...withTools, results })).text, 'Hot.');
          bench.provider.script = model(() => ({
            calls: CITIES.map((input) => ({ name: TOOL.name, input })),
          }));
        }

        bench.provider.script = model((asked) => ({
          text: asked.text.includes(PNG) ? 'A dot.' : 'No picture.',
        }));
        assert.equal((await open.ask({ ...question, image: `data:image/png;base64,${PNG}` })).text, 'A dot.');

        bench.provider.script = model(structuredAnswer);
        assert.deepEqual(await open.structured(question), { city: 'Multan' });

        const records = bench.gateway.journal.records.filter(({ keyId }) => keyId === key.id);
        assert.equal(records.length, sent.length);
        assert.equal(bench.provider.asked.length, sent.length);
        for (const record of records) {
          assert.deepEqual(
            [
              record.status,
              record.model,
              record.promptTokens,
              record.tokensGenerated,
              record.tokensEstimated,
            ],
            [200, route.id, USAGE.input, USAGE.output, false],
          );
          assert.equal(record.costMicroPkr, BigInt(USAGE.input * 70 + USAGE.output * 560));
        }
        assert.deepEqual([...new Set(sent.map(({ path }) => path))], [PATHS[client.endpoint]]);
        for (const { path } of bench.provider.asked) assert.equal(path, PATHS[route.surface]);
        if (client.endpoint === route.surface) {
          assert.deepEqual(
            bench.provider.asked.map(({ text }) => unspliced(text)),
            sent.map(({ text }) => unspliced(text)),
          );
        }
      });
    }
  }
});

/** The AI SDK asks an Anthropic model that it does not know for a call of a tool named json. */
function structuredAnswer({ text }: Asked): ModelAnswer {
  const value = { city: 'Multan' };
  if (text.includes('"name":"json"')) return { calls: [{ name: 'json', input: value }] };
  const hasSchema = text.includes('"city"') && /json_schema|output_config|response_format/.test(text);
  return { text: hasSchema ? JSON.stringify(value) : 'no schema' };
}
