import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readWith } from './read-request.fixture.ts';

describe('flat names of tools in namespaces', () => {
  const namespace = (name: string, ...names: string[]) => ({
    type: 'namespace',
    name,
    tools: names.map((tool) => ({ type: 'function', name: tool })),
  });

  it('fit what providers take, and differ', () => {
    const long = 'n'.repeat(70);
    const tools = [
      { type: 'function', name: 'a__b' },
      namespace('a', 'b', 'mit.punkt'),
      namespace('a__b', 'c'),
      namespace('a', 'b__c'),
      namespace(long, 'x', 'y'),
    ];
    const names = readWith({ tools }).tools.map((tool) => (tool.kind === 'function' ? tool.name : ''));
    assert.equal(names[0], 'a__b');
    assert.equal(names[3], 'a__b__c');
    assert.equal(new Set(names).size, 7);
    for (const name of names) assert.match(name, /^[a-zA-Z0-9_-]{1,64}$/);
  });

  it('are the same in a declaration, a call and the tool choice', () => {
    const conversation = readWith({
      tools: [{ type: 'function', name: 'a__b' }, namespace('a', 'b')],
      tool_choice: { type: 'function', name: 'b', namespace: 'a' },
      input: [{ type: 'function_call', call_id: 'c', name: 'b', namespace: 'a', arguments: '{}' }],
    });
    const [, tool] = conversation.tools;
    const flat = tool?.kind === 'function' ? tool.name : '';
    assert.notEqual(flat, 'a__b');
    assert.deepEqual(conversation.toolChoice, { mode: 'tool', name: flat });
    const [turn] = conversation.turns;
    assert.ok(turn?.role === 'assistant' && turn.parts[0]?.type === 'toolCall');
    assert.equal(turn.parts[0].name, flat);
    assert.deepEqual(conversation.namespaces, { [flat]: { namespace: 'a', name: 'b' } });
  });
});
