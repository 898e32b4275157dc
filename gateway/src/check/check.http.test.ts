import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { StatedProviderFlags, Surface } from '@gatehouse/contract';
import { direct } from '@gatehouse/http/outgoing';
import type { Database } from '@gatehouse/store';
import { createTestDatabase } from '@gatehouse/store/testing';
import { pino } from 'pino';
import { addRoute, type MockProvider, startMockProvider } from '../testing/index.ts';
import { PLATFORM_KEY } from '../testing/test-gateway.ts';
import { checkProvider, DIFFERENCES, type Difference } from './index.ts';

type Answer = Record<string, unknown>;

const CALL = { id: 'call_1', type: 'function', function: { name: 'report', arguments: '{"word":"ready"}' } };
const USAGE = { prompt_tokens: 70, completion_tokens: 16, total_tokens: 86 };
const CHAT: Answer = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  model: 'm',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: null, tool_calls: [CALL] },
      finish_reason: 'tool_calls',
    },
  ],
  usage: USAGE,
};
const MESSAGE: Answer = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [{ type: 'tool_use', id: 'toolu_1', name: 'report', input: { word: 'ready' } }],
  stop_reason: 'tool_use',
  usage: { input_tokens: 70, output_tokens: 16 },
};
const RESPONSE: Answer = {
  id: 'resp_1',
  object: 'response',
  status: 'completed',
  model: 'm',
  output: [
    {
      type: 'function_call',
      id: 'fc_1',
      call_id: 'call_1',
      name: 'report',
      arguments: '{"word":"ready"}',
      status: 'completed',
    },
  ],
  usage: { input_tokens: 70, output_tokens: 16, total_tokens: 86 },
};

/** The events of these data, with a name where the format has one. */
function events(list: readonly (object | string)[]): string {
  return list
    .map((data) => {
      if (typeof data === 'string') return `data: ${data}\n\n`;
      const { type } = data as Answer;
      return `${typeof type === 'string' ? `event: ${type}\n` : ''}data: ${JSON.stringify(data)}\n\n`;
    })
    .join('');
}

function chatEvents({ choices, usage, ...head }: Answer, end: readonly string[] = ['[DONE]']): string {
  const [{ message, finish_reason } = { message: {}, finish_reason: null }] = choices as Answer[];
  const { tool_calls: calls, ...delta } = message as Answer;
  const chunk = (choice: object) => ({
    ...head,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, ...choice }],
  });
  return events([
    chunk({ delta, finish_reason: null }),
    ...((calls ?? []) as Answer[]).map((call, index) =>
      chunk({ delta: { tool_calls: [{ index, ...call }] }, finish_reason: null }),
    ),
    ...(finish_reason === undefined ? [] : [chunk({ delta: {}, finish_reason })]),
    ...(usage === undefined ? [] : [{ ...head, object: 'chat.completion.chunk', choices: [], usage }]),
    ...end,
  ]);
}

function messageEvents(answer: Answer): string {
  const { content, stop_reason, usage, ...head } = answer;
  const { input_tokens, output_tokens } = usage as Record<string, number>;
  const start = { ...head, content: [], stop_reason: null, usage: { input_tokens, output_tokens: 1 } };
  return events([
    { type: 'message_start', message: start },
    ...(content as Answer[]).flatMap(({ input, ...block }, index) => [
      { type: 'content_block_start', index, content_block: { ...block, input: {} } },
      {
        type: 'content_block_delta',
        index,
        delta: { type: 'input_json_delta', partial_json: JSON.stringify(input) },
      },
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason }, usage: { output_tokens } },
    { type: 'message_stop' },
  ]);
}

function responseEvents(answer: Answer): string {
  const { output, ...head } = answer;
  return events([
    { type: 'response.created', response: { ...head, status: 'in_progress', output: [], usage: null } },
    ...(output as Answer[]).flatMap((item, output_index) => [
      {
        type: 'response.output_item.added',
        output_index,
        item: { ...item, arguments: '', status: 'in_progress' },
      },
      {
        type: 'response.function_call_arguments.delta',
        item_id: item['id'],
        output_index,
        delta: item['arguments'],
      },
      { type: 'response.output_item.done', output_index, item },
    ]),
    { type: 'response.completed', response: answer },
  ]);
}

const JSON_HEAD = { 'content-type': 'application/json' };
const EVENTS_HEAD = { 'content-type': 'text/event-stream; charset=utf-8' };

interface Scripted {
  readonly status?: number;
  readonly head?: Record<string, string>;
  readonly body: string;
}

describe('the check of a provider', () => {
  const stack = new AsyncDisposableStack();
  let database: Database;
  let provider: MockProvider;

  before(async () => {
    ({ database } = stack.use(await createTestDatabase()));
    provider = stack.use(await startMockProvider());
  });
  after(() => stack.disposeAsync());

  let names = 0;
  /** Checks a provider of its own, that answers as scripted. */
  const check = async (
    surface: Surface,
    script: (isStream: boolean) => Scripted,
    {
      flags = {},
      protocol = 'openai',
      ...route
    }: { flags?: StatedProviderFlags; protocol?: string; isActive?: boolean } = {},
  ) => {
    names += 1;
    const id = `check/${names}`;
    await addRoute(database, {
      id,
      provider: `check-${names}`,
      baseUrl: provider.baseUrl,
      protocol,
      endpoints:
        surface === 'embeddings' || surface === 'completions' ? [surface] : ['chat', 'responses', 'messages'],
      flags: { surfaces: { [surface]: `/${surface}` }, ...flags },
      ...route,
    });
    provider.asked.length = 0;
    provider.script = (response, { body }) => {
      const { status = 200, head, body: text } = script(body['stream'] === true);
      response.writeHead(status, head ?? (body['stream'] === true ? EVENTS_HEAD : JSON_HEAD));
      response.end(text);
    };
    return checkProvider(`check-${names}`, [id], {
      database,
      platformKey: (name) => (name === 'MOCK_API_KEY' ? PLATFORM_KEY : undefined),
      proxyOf: direct,
      log: pino({ level: 'silent' }),
    });
  };
  const whole = (answer: Answer): Scripted => ({ body: JSON.stringify(answer) });
  const differences = (checks: Awaited<ReturnType<typeof check>>) => checks.map((one) => one.differences);

  it('finds nothing at one that answers as it should, on each surface, JSON and stream', async () => {
    const chat = await check('chat', (isStream) => (isStream ? { body: chatEvents(CHAT) } : whole(CHAT)));
    assert.deepEqual(differences(chat), [[], []]);
    const [document, stream] = chat;
    assert.deepEqual(
      [document?.finish, document?.hasToolCall, document?.usage?.promptTokens, document?.firstTokenMs],
      ['tool_calls', true, 70, undefined],
    );
    assert.ok((stream?.firstTokenMs ?? -1) >= 0 && (stream?.totalMs ?? 0) >= (stream?.firstTokenMs ?? 0));
    assert.ok(document && document.costMicroPkr > 0n && document.costMicroPkr === stream?.costMicroPkr);
    // Usage was asked for as the catalogue says, with the provider's own name of the cap.
    const [first, second] = provider.asked.map(({ body }) => body);
    assert.equal(first?.['max_completion_tokens'], 512);
    assert.deepEqual(second?.['stream_options'], { include_usage: true });

    const message = { protocol: 'anthropic' };
    assert.deepEqual(
      differences(
        await check(
          'messages',
          (isStream) => (isStream ? { body: messageEvents(MESSAGE) } : whole(MESSAGE)),
          message,
        ),
      ),
      [[], []],
    );
    assert.deepEqual(
      differences(
        await check('responses', (isStream) =>
          isStream ? { body: responseEvents(RESPONSE) } : whole(RESPONSE),
        ),
      ),
      [[], []],
    );
    const text = {
      ...{
        id: 'cmpl-1',
        object: 'text_completion',
        model: 'm',
        usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
      },
      choices: [{ index: 0, text: ' ready now', finish_reason: 'stop' }],
    };
    const { usage, ...chunk } = text;
    const completions = (isStream: boolean) =>
      isStream ? { body: events([chunk, { ...chunk, choices: [], usage }, '[DONE]']) } : whole(text);
    assert.deepEqual(differences(await check('completions', completions)), [[], []]);
    const vector = {
      ...{ object: 'list', model: 'm', usage: { prompt_tokens: 1, total_tokens: 1 } },
      data: [{ object: 'embedding', index: 0, embedding: [0.1, 0.2] }],
    };
    assert.deepEqual(differences(await check('embeddings', () => whole(vector))), [[]]);
    const tokens = await check('count_tokens', () => whole({ input_tokens: 70 }), message);
    assert.deepEqual(differences(tokens), [[]]);
  });

  const choice = (changed: object, message: object = {}) => {
    const [first] = CHAT['choices'] as Answer[];
    return {
      ...CHAT,
      choices: [{ ...first, message: { ...(first?.['message'] as object), ...message }, ...changed }],
    };
  };
  const withCall = (changed: object) => choice({}, { tool_calls: [{ ...CALL, ...changed }] });
  const { usage: _usage, ...unmetered } = CHAT;
  const TEXT = { role: 'assistant', content: 'The word is ready.' };

  /** The lies of a chat completion, each with its name. They are told in the document and in the stream. */
  const LIES: readonly (readonly [string, Difference, Answer])[] = [
    ['no usage', 'usage_missing', unmetered],
    [
      'a usage of nothing',
      'usage_zero',
      { ...CHAT, usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 } },
    ],
    [
      'a prompt of a million tokens',
      'usage_implausible',
      { ...CHAT, usage: { ...USAGE, prompt_tokens: 1_000_000, total_tokens: 1_000_016 } },
    ],
    ['a total below its parts', 'usage_contradictory', { ...CHAT, usage: { ...USAGE, total_tokens: 10 } }],
    [
      'more than the cap',
      'usage_beyond_cap',
      { ...CHAT, usage: { ...USAGE, completion_tokens: 600, total_tokens: 670 } },
    ],
    ['no finish', 'finish_missing', choice({ finish_reason: undefined })],
    ['an unknown finish', 'finish_unknown', choice({ finish_reason: 'done' })],
    ['a finish of tools without a call', 'finish_without_tool_call', choice({ message: TEXT })],
    ['a call with an ordinary finish', 'tool_call_without_finish', choice({ finish_reason: 'stop' })],
    ['a call without an id', 'tool_call_unnamed', withCall({ id: '' })],
    [
      'a call of another tool',
      'tool_call_unnamed',
      withCall({ function: { ...CALL.function, name: 'other' } }),
    ],
    [
      'arguments that are cut',
      'tool_arguments_invalid',
      withCall({ function: { ...CALL.function, arguments: '{"word":' } }),
    ],
    [
      'arguments as an object',
      'tool_arguments_invalid',
      withCall({ function: { ...CALL.function, arguments: { word: 'ready' } } }),
    ],
    [
      'nothing',
      'content_missing',
      choice({ message: { role: 'assistant', content: '' }, finish_reason: 'stop' }),
    ],
  ];
  for (const [lie, name, answer] of LIES)
    it(`names ${lie}: ${name}`, async () => {
      const found = await check('chat', (isStream) =>
        isStream ? { body: chatEvents(answer) } : whole(answer),
      );
      assert.deepEqual(
        found.map((one) => [one.isStream, one.differences.includes(name)]),
        [
          [false, true],
          [true, true],
        ],
        JSON.stringify(differences(found)),
      );
    });

  const honest = (isStream: boolean) => (isStream ? { body: chatEvents(CHAT) } : whole(CHAT));
  const OF_STREAMS: readonly (readonly [string, Difference, (isStream: boolean) => Scripted])[] = [
    [
      'a stream without its end',
      'stream_incomplete',
      (isStream) => (isStream ? { body: chatEvents(choice({ finish_reason: undefined }), []) } : whole(CHAT)),
    ],
    [
      'a document in place of a stream',
      'stream_missing',
      (isStream) => ({ ...whole(CHAT), ...(isStream && { head: JSON_HEAD }) }),
    ],
    [
      'a stream under another type',
      'content_type',
      (isStream) => ({ ...honest(isStream), ...(isStream && { head: { 'content-type': 'text/plain' } }) }),
    ],
    [
      'an error inside a stream',
      'error_in_answer',
      (isStream) => (isStream ? { body: events([{ error: { message: 'overloaded' } }]) } : whole(CHAT)),
    ],
    [
      'another prompt in the stream',
      'usage_differs',
      (isStream) =>
        isStream
          ? {
              body: chatEvents({
                ...CHAT,
                usage: { prompt_tokens: 140, completion_tokens: 16, total_tokens: 156 },
              }),
            }
          : whole(CHAT),
    ],
  ];
  for (const [lie, name, script] of OF_STREAMS)
    it(`names ${lie}: ${name}`, async () => {
      const [document, stream] = await check('chat', script);
      assert.deepEqual(document?.differences, []);
      assert.ok(stream?.differences.includes(name), JSON.stringify(stream?.differences));
    });

  it('names a stream that nobody asked for, a page in place of an answer, and an error status with its words', async () => {
    const unasked = await check('chat', () => ({ body: chatEvents(CHAT), head: EVENTS_HEAD }));
    assert.deepEqual(differences(unasked), [['stream_unasked'], []]);
    const page = await check('chat', () => ({
      body: '<html>Sign in</html>',
      head: { 'content-type': 'text/html' },
    }));
    assert.deepEqual(differences(page), [['not_an_answer'], ['not_an_answer']]);
    const refused = await check('chat', () => ({
      status: 401,
      body: JSON.stringify({ error: { message: `no such key ${PLATFORM_KEY}` } }),
    }));
    assert.deepEqual(differences(refused), [['status'], ['status']]);
    assert.match(refused[0]?.error ?? '', /^401: .*no such key/);
    assert.doesNotMatch(refused[0]?.error ?? '', new RegExp(PLATFORM_KEY));
  });

  it('expects no usage of a stream where the catalogue says that it cannot be asked for', async () => {
    const script = (isStream: boolean) => (isStream ? { body: chatEvents(unmetered) } : whole(CHAT));
    assert.deepEqual(differences(await check('chat', script, { flags: { streamUsage: 'never' } })), [[], []]);
    assert.deepEqual(differences(await check('chat', script)), [[], ['usage_missing']]);
  });

  it('names what keeps it from asking: no credential, no connection', async () => {
    names += 1;
    const of = async (id: string, options: object) => {
      await addRoute(database, {
        id,
        provider: id.replace('/', '-'),
        baseUrl: 'http://127.0.0.1:1',
        flags: { surfaces: { chat: '/chat' } },
        ...options,
      });
      const found = await checkProvider(id.replace('/', '-'), [id], {
        database,
        platformKey: (name) => ({ MOCK_API_KEY: PLATFORM_KEY, BROKEN_KEY: 'sk\nbroken' })[name],
        proxyOf: direct,
        log: pino({ level: 'silent' }),
      });
      return found.map((one) => [one.differences, one.error]);
    };
    const [unset] = await of('check/unset', { apiKeyEnv: 'UNSET_KEY' });
    assert.deepEqual(unset?.[0], ['not_configured']);
    assert.match(String(unset?.[1]), /must set UNSET_KEY/);
    // No header can hold it: the client library refuses before it sends.
    assert.deepEqual(
      (await of('check/broken', { apiKeyEnv: 'BROKEN_KEY' })).map(([found]) => found),
      [['unreachable'], ['unreachable']],
    );
    assert.deepEqual(await of('check/gone', {}), [
      [['unreachable'], 'the connection was refused'],
      [['unreachable'], 'the connection was refused'],
    ]);
  });

  it('checks a route that is not active', async () => {
    assert.deepEqual(differences(await check('chat', honest, { isActive: false })), [[], []]);
  });

  it('has a sentence for each difference', () => {
    for (const [name, meaning] of Object.entries(DIFFERENCES))
      assert.match(`${name} ${meaning}`, /^[a-z_]+ [a-z0-9].{10,}[^.]$/);
  });
});
