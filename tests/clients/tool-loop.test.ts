import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { addRoute, useBench } from '@gatehouse/gateway/testing';
import { importClient } from './install.ts';
import { model } from './model.ts';
import { type Any, constructorOf, TOOL } from './sdks/sdk-client.ts';

// A tool loop of the AI SDK with its defaults, on routes of the other formats. With openai(id) it refers to its model's earlier texts
// and calls by their ids.

const bench = await useBench();
const STEPS = 5;
const PATHS = { chat: '/chat/completions', responses: '/responses', messages: '/messages' } as const;
type Surface = keyof typeof PATHS;

const MODELS: Readonly<
  Record<string, { surface: Surface; open: (options: object, id: string) => Promise<Any> }>
> = {
  'openai(id)': {
    surface: 'responses',
    open: async (options, id) => (await constructorOf('@ai-sdk/openai', 'createOpenAI'))(options)(id),
  },
  'openai.chat(id)': {
    surface: 'chat',
    open: async (options, id) => (await constructorOf('@ai-sdk/openai', 'createOpenAI'))(options).chat(id),
  },
  'anthropic(id)': {
    surface: 'messages',
    open: async (options, id) => (await constructorOf('@ai-sdk/anthropic', 'createAnthropic'))(options)(id),
  },
};

describe('a tool loop of the AI SDK', () => {
  before(async () => {
    for (const surface of ['chat', 'responses', 'messages'] as const) {
      await addRoute(bench.database, {
        id: `native/${surface}`,
        protocol: surface === 'messages' ? 'anthropic' : 'openai',
        flags: { surfaces: { [surface]: PATHS[surface] } },
        baseUrl: bench.provider.baseUrl,
        endpoints: ['chat', 'responses', 'messages'],
        maxInputTokens: 400_000,
        maxOutputTokens: 64_000,
      });
    }
  });

  for (const [name, { surface, open }] of Object.entries(MODELS)) {
    for (const other of (['chat', 'responses', 'messages'] as const).filter((one) => one !== surface)) {
      for (const isStream of [false, true]) {
        it(`goes through five steps with ${name} on a route of ${other} (stream: ${isStream})`, async () => {
          const { generateText, streamText, tool, jsonSchema, stepCountIs }: Any = await importClient('ai');
          // As many steps as results have come.
          bench.provider.script = model(({ text }) => {
            const step = new Set(text.match(/Result of \d/g)).size;
            if (step === STEPS) return { text: 'Done.' };
            return { text: `Step ${step}.`, calls: [{ name: TOOL.name, input: { city: String(step) } }] };
          });
          const baseURL = `http://127.0.0.1:${bench.gateway.port}/v1`;
          const options = {
            model: await open({ apiKey: bench.key.secret, baseURL }, `native/${other}`),
            maxRetries: 0,
            maxOutputTokens: 500,
            prompt: 'Look at five cities.',
            stopWhen: stepCountIs(STEPS + 2),
            tools: {
              [TOOL.name]: tool({
                description: TOOL.description,
                inputSchema: jsonSchema(TOOL.parameters),
                execute: ({ city }: Any) => `Result of ${city}`,
              }),
            },
          };
          const result = isStream ? streamText(options) : await generateText(options);
          if (isStream) await result.consumeStream({ onError: (error: unknown) => assert.ifError(error) });
          const steps = await result.steps;
          assert.deepEqual(
            steps.map(({ text }: Any) => text),
            [...Array.from({ length: STEPS }, (_, step) => `Step ${step}.`), 'Done.'],
          );
          const last = JSON.stringify(bench.provider.asked.at(-1)?.body);
          for (let step = 0; step < STEPS; step += 1) {
            assert.ok(last.includes(`Step ${step}.`) && last.includes(`Result of ${step}`), last);
          }
          assert.doesNotMatch(last, /item_reference/);
        });
      }
    }
  }
});
