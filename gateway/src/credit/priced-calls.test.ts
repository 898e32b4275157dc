import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { callsOf } from '../testing/test-call.ts';
import { impliedCalls, mostCalls, toolCallCap } from './priced-calls.ts';

const NONE: ReadonlySet<string> = new Set();
const messages = [{ role: 'user', content: 'Hi' }];
const tool = (type: string, uses?: unknown) => ({
  type,
  name: 'search',
  ...(uses !== undefined && { max_uses: uses }),
});

describe('the most calls that are priced per call', () => {
  const input = 'Hi';
  const limited = (first: number, second?: number) => [
    tool('web_search', first),
    tool('web_search_preview', second),
  ];
  for (const [title, format, body, calls] of [
    ['none without a tool', 'chat', {}, {}],
    [
      'none for a tool that the caller runs',
      'chat',
      { tools: [{ type: 'function', function: { name: 'web_search' } }] },
      {},
    ],
    ['none for a tool that only begins alike', 'chat', { tools: [tool('web_searcher')] }, {}],
    ['ten for a tool without a limit', 'chat', { tools: [tool('web_search')] }, { web_search: 10 }],
    [
      'ten for a limit that the format has not',
      'chat',
      { tools: [tool('web_search', 3)] },
      { web_search: 10 },
    ],
    ['one at least of a chat', 'chat', { web_search_options: {}, max_tool_calls: 0 }, { web_search: 1 }],
    [
      'what all tools of a chat may do',
      'chat',
      { web_search_options: {}, max_tool_calls: 3 },
      { web_search: 3 },
    ],
    [
      'ten for a limit of a message’s tool',
      'responses',
      { tools: [tool('web_search', 1)] },
      { web_search: 10 },
    ],
    [
      'ten for a limit of a response',
      'messages',
      { tools: [tool('web_search')], max_tool_calls: 1 },
      { web_search: 10 },
    ],
    [
      'what a version of the tool states',
      'messages',
      { tools: [tool('web_search_20250305', 3)] },
      { web_search: 3 },
    ],
    [
      'the sum of two tools',
      'messages',
      { tools: [tool('web_search', 3), tool('web_search', 4)] },
      { web_search: 7 },
    ],
    ['the sum of two versions', 'messages', { tools: limited(3, 4) }, { web_search: 7 }],
    [
      'ten where one of two states no limit',
      'messages',
      { tools: [tool('web_search', 3), tool('web_search')] },
      { web_search: 10 },
    ],
    ['ten where the limit is no count', 'messages', { tools: [tool('web_search', -1)] }, { web_search: 10 }],
    [
      'what all tools may do',
      'responses',
      { tools: [tool('web_search')], max_tool_calls: 25 },
      { web_search: 25 },
    ],
    ['none where no tool may be called', 'responses', { tools: [tool('web_search')], max_tool_calls: 0 }, {}],
    ['ten for options', 'chat', { web_search_options: {} }, { web_search: 10 }],
    [
      'ten for options that are large',
      'chat',
      { web_search_options: { at: 'x'.repeat(3_000) } },
      { web_search: 10 },
    ],
    ['none for options that are null', 'chat', { web_search_options: null }, {}],
    ['as many for each choice', 'chat', { tools: [tool('web_search')], n: 3 }, { web_search: 30 }],
    ['a thousand at most', 'messages', { tools: [tool('web_search', 10 ** 15)] }, { web_search: 1_000 }],
    [
      'each name',
      'messages',
      { tools: [tool('web_search', 2), tool('file_search', 1)] },
      { web_search: 2, file_search: 1 },
    ],
    ['nothing that has no price', 'chat', { tools: [tool('code_interpreter')] }, {}],
  ] as const) {
    it(`are ${title} (${format})`, async () => {
      const prompt = format === 'responses' ? { input } : { messages };
      const call = (await callsOf(format, { ...prompt, ...body }))();
      const context = { names: ['web_search', 'file_search'], droppedTools: NONE };
      assert.deepEqual(mostCalls(context, call), calls);
      const most = Math.max(0, ...Object.values(calls as Record<string, number>));
      assert.equal(toolCallCap(context, call), format === 'responses' ? most || undefined : undefined);
    });
  }

  it('are none for a tool that is not sent on', async () => {
    const call = (
      await callsOf('messages', { messages, tools: [tool('web_search'), tool('file_search', 2)] })
    )();
    const droppedTools = new Set(['web_search']);
    const context = { names: ['web_search', 'file_search'], droppedTools };
    assert.deepEqual(mostCalls(context, call), { file_search: 2 });
  });
});

describe('the calls that are implied', () => {
  for (const [title, body, calls] of [
    ['one for options', { web_search_options: {} }, { web_search: 1 }],
    ['one for each choice', { web_search_options: {}, n: 2 }, { web_search: 2 }],
    ['none for a tool, whose calls are counted', { tools: [tool('web_search')] }, {}],
    ['none for options that are null', { web_search_options: null }, {}],
  ] as const) {
    it(`are ${title}`, async () => {
      const call = (await callsOf('chat', { messages, ...body }))();
      const context = { names: ['web_search'], droppedTools: NONE };
      assert.deepEqual(impliedCalls(context, call), calls);
    });
  }
});
