import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { callsOf } from '../testing/test-call.ts';
import { impliedCalls, mostCalls } from './priced-calls.ts';

const NONE: ReadonlySet<string> = new Set();
const messages = [{ role: 'user', content: 'Hi' }];
const tool = (type: string, uses?: unknown) => ({
  type,
  name: 'search',
  ...(uses !== undefined && { max_uses: uses }),
});

describe('the most calls that are priced per call', () => {
  for (const [title, body, calls] of [
    ['none without a tool', {}, {}],
    [
      'none for a tool that the caller runs',
      { tools: [{ type: 'function', function: { name: 'web_search' } }] },
      {},
    ],
    ['none for a tool that only begins alike', { tools: [tool('web_searcher')] }, {}],
    ['ten for a tool without a limit', { tools: [tool('web_search')] }, { web_search: 10 }],
    ['what a version of the tool states', { tools: [tool('web_search_20250305', 3)] }, { web_search: 3 }],
    ['the sum of two tools', { tools: [tool('web_search', 3), tool('web_search', 4)] }, { web_search: 7 }],
    [
      'the sum of two versions',
      { tools: [tool('web_search', 3), tool('web_search_preview', 4)] },
      { web_search: 7 },
    ],
    [
      'ten where one of two states no limit',
      { tools: [tool('web_search', 3), tool('web_search')] },
      { web_search: 10 },
    ],
    ['ten where the limit is no count', { tools: [tool('web_search', -1)] }, { web_search: 10 }],
    ['what all tools may do', { tools: [tool('web_search')], max_tool_calls: 25 }, { web_search: 25 }],
    ['the smaller of both limits', { tools: [tool('web_search', 9)], max_tool_calls: 2 }, { web_search: 2 }],
    ['none where no tool may be called', { tools: [tool('web_search')], max_tool_calls: 0 }, {}],
    ['ten for options', { web_search_options: {} }, { web_search: 10 }],
    ['ten for options that are large', { web_search_options: { at: 'x'.repeat(3_000) } }, { web_search: 10 }],
    ['none for options that are null', { web_search_options: null }, {}],
    ['as many for each choice', { tools: [tool('web_search', 2)], n: 3 }, { web_search: 6 }],
    ['a thousand at most', { tools: [tool('web_search', 10 ** 15)] }, { web_search: 1_000 }],
    [
      'each name',
      { tools: [tool('web_search', 2), tool('file_search', 1)] },
      { web_search: 2, file_search: 1 },
    ],
    ['nothing that has no price', { tools: [tool('code_interpreter')] }, {}],
  ] as const) {
    it(`are ${title}`, async () => {
      const call = (await callsOf('chat', { messages, ...body }))();
      const context = { names: ['web_search', 'file_search'], droppedTools: NONE };
      assert.deepEqual(mostCalls(context, call), calls);
    });
  }

  it('are none for a tool that is not sent on', async () => {
    const call = (await callsOf('chat', { messages, tools: [tool('web_search'), tool('file_search', 2)] }))();
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
