import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { requestIdOf, useBench } from '../testing/bench.ts';
import { codexBody } from '../testing/codex-body.ts';
import { addRoute } from '../testing/test-gateway.ts';
import { unitVector } from './embeddings-echo.ts';

const MODEL = 'demo/echo';
const WEATHER = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const CALL = 'Call the tool weather with {"city": "Oslo"}';
const SCHEMA = {
  type: 'object',
  properties: { n: { type: 'integer', minimum: 1 }, list: { type: 'array', items: { type: 'string' } } },
  required: ['n', 'list'],
  additionalProperties: false,
};
const SMALLEST = { n: 1, list: [] };

const bench = await useBench();

describe('demo/echo in every format', () => {
  before(() =>
    addRoute(bench.database, {
      id: MODEL,
      protocol: 'demo',
      apiKeyEnv: null,
      endpoints: ['chat', 'completions', 'embeddings', 'responses', 'messages'],
      maxOutputTokens: 1_000,
    }),
  );
  const origin = () => `http://127.0.0.1:${bench.gateway.port}`;
  const openai = () => new OpenAI({ apiKey: bench.key.secret, baseURL: `${origin()}/v1`, maxRetries: 0 });
  const anthropic = () =>
    new Anthropic({ authToken: bench.key.secret, apiKey: null, baseURL: origin(), maxRetries: 0 });
  const post = (path: string, body: object) =>
    bench.gateway.post(path, bench.key.secret, { model: MODEL, ...body });
  const json = async (path: string, body: object) => {
    const response = await post(path, body);
    assert.equal(response.status, 200, await response.clone().text());
    const value = (await response.json()) as Record<string, unknown>;
    return { value, record: await bench.gateway.journal.recordOf(requestIdOf(response)) };
  };

  describe('chat', () => {
    const tools = [{ type: 'function' as const, function: { name: 'weather', parameters: WEATHER } }];

    for (const stream of [false, true]) {
      it(`200 calls a tool and says what it said (stream: ${stream})`, async () => {
        const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: CALL }];
        const ask = async () => {
          const body = { model: MODEL, messages, tools };
          if (!stream) return (await openai().chat.completions.create(body)).choices[0] ?? assert.fail();
          const answer = await openai().chat.completions.stream(body).finalChatCompletion();
          return answer.choices[0] ?? assert.fail();
        };
        const first = await ask();
        assert.equal(first.finish_reason, 'tool_calls');
        const [call] = first.message.tool_calls ?? [];
        assert.ok(call?.type === 'function');
        assert.deepEqual(
          [call.function.name, JSON.parse(call.function.arguments)],
          ['weather', { city: 'Oslo' }],
        );
        messages.push(first.message, { role: 'tool', tool_call_id: call.id, content: 'Snow, -3°' });
        const second = await ask();
        assert.deepEqual([second.finish_reason, second.message.content], ['stop', 'Snow, -3°']);
      });
    }

    it('200 with the smallest value of a schema, and with an object where any JSON will do', async () => {
      const ask = async (response_format: object) => {
        const { value } = await json('/v1/chat/completions', {
          messages: [{ role: 'user', content: 'Hi' }],
          response_format,
        });
        return JSON.parse((value as unknown as OpenAI.ChatCompletion).choices[0]?.message.content ?? '');
      };
      assert.deepEqual(
        await ask({ type: 'json_schema', json_schema: { name: 's', schema: SCHEMA } }),
        SMALLEST,
      );
      assert.deepEqual(await ask({ type: 'json_object' }), {});
    });
  });

  describe('responses', () => {
    const tools = [
      { type: 'function' as const, name: 'weather', parameters: WEATHER, strict: true },
      { type: 'custom' as const, name: 'patch' },
    ];

    for (const stream of [false, true]) {
      it(`200 calls a tool and says what it said (stream: ${stream})`, async () => {
        const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: CALL }];
        const ask = () => {
          const body = { model: MODEL, input, tools };
          return stream ? openai().responses.stream(body).finalResponse() : openai().responses.create(body);
        };
        const first = await ask();
        const [call] = first.output;
        assert.ok(call?.type === 'function_call');
        assert.deepEqual([call.name, JSON.parse(call.arguments)], ['weather', { city: 'Oslo' }]);
        input.push(call, { type: 'function_call_output', call_id: call.call_id, output: 'Snow, -3°' });
        const second = await ask();
        assert.deepEqual([second.status, second.output_text], ['completed', 'Snow, -3°']);
      });
    }

    it('200 with the text of a custom tool, and with the tool of a namespace', async () => {
      const [custom] = (
        await openai().responses.create({
          model: MODEL,
          input: 'Call the tool patch with {"input":"*** Begin"}',
          tools,
        })
      ).output;
      assert.ok(custom?.type === 'custom_tool_call' && custom.input === '*** Begin');
      const body = codexBody(MODEL).replace('"stream":true', '"stream":false');
      const answered = JSON.stringify({ role: 'assistant', content: 'Done.' });
      const said = JSON.stringify({ role: 'user', content: 'Call the tool spawn_agent with {}' });
      const agent = await bench.gateway.post(
        '/v1/responses',
        bench.key.secret,
        body.replace('\n],"tools"', `,${answered},${said}],"tools"`),
      );
      const { output } = (await agent.json()) as { output: Record<string, unknown>[] };
      assert.deepEqual([output[0]?.['name'], output[0]?.['namespace']], ['spawn_agent', 'multi_agent_v1']);
    });

    it('200 for a turn of Codex, with what its tool said', async () => {
      const response = await bench.gateway.post('/v1/responses', bench.key.secret, codexBody(MODEL));
      const text = await response.text();
      assert.match(text, /^event: response\.created\ndata: .*\n\nevent: response\.in_progress\n/);
      assert.match(text, /event: response\.completed\ndata: \{.*"text":"README\.md\\n\\nDone".*\}\n\n$/);
      await bench.assertRecord(response, { isStream: true, tokensEstimated: false, status: 200 });
    });

    it('200 that is incomplete at its cap', async () => {
      const answer = await openai().responses.create({
        model: MODEL,
        input: 'one two three',
        max_output_tokens: 2,
      });
      assert.equal(answer.output_text, 'one two');
      assert.deepEqual(
        [answer.status, answer.incomplete_details?.reason],
        ['incomplete', 'max_output_tokens'],
      );
    });

    it('200 with the smallest value of a schema', async () => {
      const format = { type: 'json_schema' as const, name: 's', schema: SCHEMA };
      const answer = await openai().responses.create({ model: MODEL, input: 'Hi', text: { format } });
      assert.deepEqual(JSON.parse(answer.output_text), SMALLEST);
    });
  });

  describe('messages', () => {
    const tools = [{ name: 'weather', input_schema: { ...WEATHER, type: 'object' as const } }];

    for (const stream of [false, true]) {
      it(`200 calls a tool and says what it said (stream: ${stream})`, async () => {
        const messages: Anthropic.MessageParam[] = [{ role: 'user', content: CALL }];
        const ask = () => {
          const body = { model: MODEL, max_tokens: 100, messages, tools };
          return stream
            ? anthropic().messages.stream(body).finalMessage()
            : anthropic().messages.create(body);
        };
        const first = await ask();
        assert.equal(first.stop_reason, 'tool_use');
        const [call] = first.content;
        assert.ok(call?.type === 'tool_use');
        assert.deepEqual([call.name, call.input], ['weather', { city: 'Oslo' }]);
        messages.push(
          { role: 'assistant', content: first.content },
          {
            role: 'user',
            content: [
              { type: 'tool_result', tool_use_id: call.id, content: [{ type: 'text', text: 'Snow, -3°' }] },
              { type: 'text', text: 'A reminder of the client.' },
            ],
          },
        );
        const second = await ask();
        assert.equal(second.stop_reason, 'end_turn');
        assert.ok(second.content[0]?.type === 'text' && second.content[0].text === 'Snow, -3°');
      });
    }

    it('200 with the smallest value of a schema, by either of its names', async () => {
      const format = { type: 'json_schema', schema: SCHEMA };
      for (const members of [{ output_config: { format } }, { output_format: format }]) {
        const { value } = await json('/v1/messages', {
          max_tokens: 100,
          messages: [{ role: 'user', content: 'Hi' }],
          ...members,
        });
        const [block] = (value as unknown as Anthropic.Message).content;
        assert.ok(block?.type === 'text');
        assert.deepEqual(JSON.parse(block.text), SMALLEST);
      }
    });

    it('200 with the tokens of a prompt, as many as a message with it has', async () => {
      const messages = [{ role: 'user' as const, content: 'Hello there' }];
      const body = { model: MODEL, system: 'Be short.', messages };
      const { input_tokens } = await anthropic().messages.countTokens(body);
      const { usage } = await anthropic().messages.create({ ...body, max_tokens: 10 });
      assert.equal(usage.input_tokens, input_tokens);
    });
  });

  describe('completions', () => {
    it('200 with each prompt, as often as it is wanted', async () => {
      const answer = await openai().completions.create({ model: MODEL, prompt: ['one two', 'three'], n: 2 });
      assert.deepEqual(
        answer.choices.map(({ text, index }) => [text, index]),
        [
          ['one two', 0],
          ['one two', 1],
          ['three', 2],
          ['three', 3],
        ],
      );
      assert.deepEqual(answer.usage?.completion_tokens, 6);
    });

    it('200 word by word, with the ids of tokens as words', async () => {
      const pieces: string[] = [];
      const stream = await openai().completions.create({ model: MODEL, prompt: [11, 22], stream: true });
      for await (const { choices } of stream) pieces.push(choices[0]?.text ?? '');
      assert.deepEqual(pieces, ['11', ' 22', '']);
    });
  });

  describe('embeddings', () => {
    it('200 with the same vectors in both encodings, each of length 1', async () => {
      const input = ['Hello there', 'Bye'];
      const asNumbers = await openai().embeddings.create({ model: MODEL, input, encoding_format: 'float' });
      // The client asks for base64 by itself.
      const asBase64 = await openai().embeddings.create({ model: MODEL, input });
      for (const [index, text] of input.entries()) {
        const expected = [...unitVector(text, 256)];
        assert.deepEqual(asNumbers.data[index]?.embedding, expected);
        assert.deepEqual(asBase64.data[index]?.embedding, expected);
      }
      assert.deepEqual(asNumbers.usage, asBase64.usage);
      assert.equal(asNumbers.usage.prompt_tokens, 3);
    });

    it('200 with as many dimensions as are wanted, and 400 for more than there are', async () => {
      const answer = await openai().embeddings.create({ model: MODEL, input: 'Hi', dimensions: 8 });
      assert.equal(answer.data[0]?.embedding.length, 8);
      for (const dimensions of [0, 1.5, 5_000]) {
        const response = await post('/v1/embeddings', { input: 'Hi', dimensions });
        assert.equal(response.status, 400);
        assert.match(await response.text(), /"message":"dimensions must be an integer from 1 to 4096\."/);
      }
      assert.equal((await post('/v1/embeddings', { input: 'Hi', encoding_format: 'hex' })).status, 400);
    });
  });

  it('200 with the same usage in every format', async () => {
    const system = 'Be short.';
    const user = 'Hello there, all of you.';
    const turns = [{ role: 'user', content: user }];
    const answers = [
      await json('/v1/chat/completions', { messages: [{ role: 'system', content: system }, ...turns] }),
      await json('/v1/responses', { instructions: system, input: turns }),
      await json('/v1/messages', { system, messages: turns, max_tokens: 100 }),
    ];
    const figures = answers.map(({ record }) => [
      record.promptTokens,
      record.tokensGenerated,
      record.costMicroPkr,
    ]);
    assert.deepEqual(figures, Array(3).fill(figures[0]));
    assert.ok(answers.every(({ record }) => !record.tokensEstimated && record.tokensGenerated > 0));
    const usage = answers.map(({ value }) => value['usage'] as Record<string, unknown>);
    assert.equal(usage[0]?.['prompt_tokens'], usage[1]?.['input_tokens']);
    assert.equal(usage[1]?.['input_tokens'], usage[2]?.['input_tokens']);
  });
});
