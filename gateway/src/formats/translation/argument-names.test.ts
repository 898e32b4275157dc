import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../wire/json.ts';
import { translateAnswer, translateRequest } from './index.ts';
import { OPTIONS, translatedStream } from './testing.fixture.ts';

const parameters = {
  type: 'object',
  properties: {
    $top: { type: 'integer' },
    'odata.id': {},
    plain: { type: 'object', properties: { $a: {} } },
  },
  required: ['$top', 'plain'],
};
const { body, notes } = translateRequest(
  'chat',
  'messages',
  {
    model: 'm',
    messages: [{ role: 'user', content: 'Hi' }],
    tools: [{ type: 'function', function: { name: 'list.all', parameters } }],
  },
  OPTIONS,
);
const [tool] = body['tools'] as { name: string; input_schema: JsonObject }[];
const name = String(tool?.name);
const [top = ''] = Object.keys(tool?.input_schema['properties'] as object);
const called = '{"$top":9007199254740993,"plain":{"$a":1}}';

describe('the names of a tool’s arguments', () => {
  it('are others where Anthropic refuses them', () => {
    assert.match(top, /^_top_[0-9a-f]{10}$/);
    assert.deepEqual(tool?.input_schema, {
      type: 'object',
      properties: {
        [top]: { type: 'integer' },
        'odata.id': {},
        plain: { type: 'object', properties: { $a: {} } },
      },
      required: [top, 'plain'],
    });
  });

  it('come back as the caller’s in a whole answer', () => {
    const exact = { [top]: JSON.rawJSON('9007199254740993'), plain: { $a: 1 } };
    const content = [{ type: 'tool_use', id: 'a', name, input: exact }];
    const answer = translateAnswer('messages', 'chat', { content, stop_reason: 'tool_use' }, notes);
    assert.ok(answer);
    const [choice] = answer['choices'] as { message: { tool_calls: { function: object }[] } }[];
    assert.deepEqual(choice?.message.tool_calls[0]?.function, { name: 'list.all', arguments: called });
  });

  it('come back as the caller’s in a stream', () => {
    const begin = { type: 'tool_use', id: 'a', name, input: {} };
    const piece = (text: string) => ({
      ...{ type: 'content_block_delta', index: 0 },
      delta: { type: 'input_json_delta', partial_json: text },
    });
    const written = JSON.stringify({ [top]: 1, plain: { $a: 1 } });
    const events = translatedStream(
      'messages',
      'chat',
      [
        { type: 'message_start', message: { id: 'm', content: [] } },
        { type: 'content_block_start', index: 0, content_block: begin },
        ...[piece(written.slice(0, 5)), piece(written.slice(5))],
        { type: 'content_block_stop', index: 0 },
        { type: 'message_delta', delta: { stop_reason: 'tool_use' } },
        { type: 'message_stop' },
      ],
      notes,
    );
    const pieces = events.flatMap((event) => {
      const { choices = [] } = event as { choices?: { delta?: { tool_calls?: { function: object }[] } }[] };
      return choices[0]?.delta?.tool_calls?.map((call) => call.function) ?? [];
    });
    assert.deepEqual(pieces, [
      { name: 'list.all', arguments: '' },
      { arguments: '{"$top":1,"plain":{"$a":1}}' },
    ]);
  });
});
