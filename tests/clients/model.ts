import type { Asked, Script } from '@gatehouse/gateway/testing';

// A provider in each of the three protocols, JSON and streams, with the event sequences of the real ones.

/** The answer of the model: a text, or calls of tools. */
export interface ModelAnswer {
  readonly text?: string;
  readonly calls?: readonly { readonly name: string; readonly input: object }[];
}

export const USAGE = { input: 1_200, output: 34 } as const;
const MODEL = 'upstream-model-2026-01-01';
const CREATED = 1_790_000_000;

/** Answers every request as `decide` says, in the protocol of its path. */
export function model(decide: (asked: Asked) => ModelAnswer): Script {
  return (response, asked) => {
    const isStream = asked.body['stream'] === true;
    const protocol = PROTOCOLS.find(({ path }) => asked.path.split('?')[0]?.endsWith(path));
    if (!protocol) {
      response
        .writeHead(404, { 'content-type': 'application/json' })
        .end('{"error":{"message":"no such path"}}');
      return;
    }
    const answer = decide(asked);
    response.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' });
    if (!isStream) response.end(JSON.stringify(protocol.whole(answer)));
    else response.end(protocol.events(answer).join(''));
  };
}

interface ModelProtocol {
  readonly path: string;
  whole(answer: ModelAnswer): object;
  events(answer: ModelAnswer): readonly string[];
}

const data = (value: object | string) =>
  `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`;
const named = (type: string, members: object) => `event: ${type}\n${data({ type, ...members })}`;
const halves = (text: string) => [text.slice(0, text.length / 2), text.slice(text.length / 2)];

const chatUsage = {
  prompt_tokens: USAGE.input,
  completion_tokens: USAGE.output,
  total_tokens: USAGE.input + USAGE.output,
};
const chat: ModelProtocol = {
  path: '/chat/completions',
  whole({ text, calls = [] }) {
    const message = {
      role: 'assistant',
      content: text ?? null,
      ...(calls.length > 0 && {
        tool_calls: calls.map(({ name, input }, index) => ({
          id: `call_${index}`,
          type: 'function',
          function: { name, arguments: JSON.stringify(input) },
        })),
      }),
    };
    return {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: CREATED,
      model: MODEL,
      choices: [{ index: 0, message, finish_reason: calls.length > 0 ? 'tool_calls' : 'stop' }],
      usage: chatUsage,
    };
  },
  events({ text, calls = [] }) {
    const frame = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: CREATED, model: MODEL };
    const piece = (delta: object, reason: string | null = null) =>
      data({ ...frame, choices: [{ index: 0, delta, finish_reason: reason }], usage: null });
    return [
      piece({ role: 'assistant', content: '' }),
      ...(text === undefined ? [] : halves(text).map((content) => piece({ content }))),
      ...calls.flatMap(({ name, input }, index) => [
        piece({
          tool_calls: [{ index, id: `call_${index}`, type: 'function', function: { name, arguments: '' } }],
        }),
        ...halves(JSON.stringify(input)).map((part) =>
          piece({ tool_calls: [{ index, function: { arguments: part } }] }),
        ),
      ]),
      piece({}, calls.length > 0 ? 'tool_calls' : 'stop'),
      data({ ...frame, choices: [], usage: chatUsage }),
      data('[DONE]'),
    ];
  },
};

const messages: ModelProtocol = {
  path: '/messages',
  whole({ text, calls = [] }) {
    return {
      ...messageFrame,
      content: [
        ...(text === undefined ? [] : [{ type: 'text', text }]),
        ...calls.map(({ name, input }, index) => ({ type: 'tool_use', id: `toolu_${index}`, name, input })),
      ],
      stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn',
      usage: { input_tokens: USAGE.input, output_tokens: USAGE.output },
    };
  },
  events({ text, calls = [] }) {
    const blocks = [
      ...(text === undefined
        ? []
        : [
            {
              start: { type: 'text', text: '' },
              deltas: halves(text).map((part) => ({ type: 'text_delta', text: part })),
            },
          ]),
      ...calls.map(({ name, input }, index) => ({
        start: { type: 'tool_use', id: `toolu_${index}`, name, input: {} },
        deltas: halves(JSON.stringify(input)).map((part) => ({
          type: 'input_json_delta',
          partial_json: part,
        })),
      })),
    ];
    return [
      named('message_start', {
        message: { ...messageFrame, usage: { input_tokens: USAGE.input, output_tokens: 1 } },
      }),
      ...blocks.flatMap(({ start, deltas }, index) => [
        named('content_block_start', { index, content_block: start }),
        named('ping', {}),
        ...deltas.map((delta) => named('content_block_delta', { index, delta })),
        named('content_block_stop', { index }),
      ]),
      named('message_delta', {
        delta: { stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn', stop_sequence: null },
        usage: { output_tokens: USAGE.output },
      }),
      named('message_stop', {}),
    ];
  },
};
const messageFrame = {
  id: 'msg_01',
  type: 'message',
  role: 'assistant',
  model: MODEL,
  content: [],
  stop_reason: null,
  stop_sequence: null,
};

const responses: ModelProtocol = {
  path: '/responses',
  whole: (answer) => ({
    ...responseFrame,
    status: 'completed',
    output: itemsOf(answer),
    usage: responsesUsage,
  }),
  events(answer) {
    const items = itemsOf(answer);
    const all: [string, object][] = [
      ['response.created', { response: responseFrame }],
      ['response.in_progress', { response: responseFrame }],
      ...items.flatMap((item, output_index) => itemEvents(item, output_index)),
      [
        'response.completed',
        { response: { ...responseFrame, status: 'completed', output: items, usage: responsesUsage } },
      ],
    ];
    return all.map(([type, members], sequence_number) => named(type, { sequence_number, ...members }));
  },
};
const responseFrame = {
  id: 'resp_1',
  object: 'response',
  created_at: CREATED,
  status: 'in_progress',
  error: null,
  incomplete_details: null,
  instructions: null,
  metadata: {},
  model: MODEL,
  output: [],
  parallel_tool_calls: true,
  temperature: 1,
  tool_choice: 'auto',
  tools: [],
  top_p: 1,
  usage: null,
};
const responsesUsage = {
  input_tokens: USAGE.input,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: USAGE.output,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: USAGE.input + USAGE.output,
};

type Item = ReturnType<typeof itemsOf>[number];

function itemsOf({ text, calls = [] }: ModelAnswer) {
  return [
    ...(text === undefined
      ? []
      : [
          {
            type: 'message' as const,
            id: 'msg_1',
            status: 'completed',
            role: 'assistant',
            content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
          },
        ]),
    ...calls.map(({ name, input }, index) => ({
      type: 'function_call' as const,
      id: `fc_${index}`,
      call_id: `call_${index}`,
      name,
      arguments: JSON.stringify(input),
      status: 'completed',
    })),
  ];
}

function itemEvents(item: Item, output_index: number): [string, object][] {
  const at = { item_id: item.id, output_index };
  if (item.type === 'function_call') {
    return [
      [
        'response.output_item.added',
        { output_index, item: { ...item, arguments: '', status: 'in_progress' } },
      ],
      ...halves(item.arguments).map((delta): [string, object] => [
        'response.function_call_arguments.delta',
        { ...at, delta },
      ]),
      ['response.function_call_arguments.done', { ...at, arguments: item.arguments }],
      ['response.output_item.done', { output_index, item }],
    ];
  }
  const [part] = item.content;
  const content = { ...at, content_index: 0 };
  return [
    ['response.output_item.added', { output_index, item: { ...item, content: [], status: 'in_progress' } }],
    ['response.content_part.added', { ...content, part: { ...part, text: '' } }],
    ...halves(part?.text ?? '').map((delta): [string, object] => [
      'response.output_text.delta',
      { ...content, delta, logprobs: [] },
    ]),
    ['response.output_text.done', { ...content, text: part?.text, logprobs: [] }],
    ['response.content_part.done', { ...content, part }],
    ['response.output_item.done', { output_index, item }],
  ];
}

const PROTOCOLS: readonly ModelProtocol[] = [chat, messages, responses];
