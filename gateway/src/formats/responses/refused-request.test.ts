import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../wire/json.ts';
import { BodyError } from '../call.ts';
import { readWith } from './read-request.fixture.ts';

describe('a responses request is refused by name', () => {
  for (const [param, members] of [
    ['previous_response_id', { previous_response_id: 'resp_1' }],
    ['conversation', { conversation: 'conv_1' }],
    ['prompt', { prompt: { id: 'pmpt_1' } }],
    ['background', { background: true }],
    ['moderation', { moderation: { model: 'omni' } }],
    ['input[0]', { input: [{ type: 'item_reference', id: 'msg_1' }] }],
    ['input[0].id', { input: [{ type: 'item_reference' }] }],
    [
      'input[1]',
      {
        input: [
          { role: 'user', content: 'Hi' },
          { type: 'computer_call', call_id: 'c' },
        ],
      },
    ],
    ['input[0]', { input: [{ type: 'compaction', encrypted_content: 'x' }] }],
    ['input[0].content[0]', { input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'f' }] }] }],
    ['input[0].content[0]', { input: [{ role: 'user', content: [{ type: 'input_image', file_id: 'f' }] }] }],
    ['input[0].content[0]', { input: [{ role: 'user', content: [{ type: 'input_audio' }] }] }],
    ['input[0].content[0]', { input: [{ role: 'user', content: [{ type: 'input_video' }] }] }],
    ['model', { model: 5 }],
    ['input', { input: [] }],
    ['input', { input: 5 }],
    ['input', { input: ['Hi'] }],
    ['input[0].role', { input: [{ content: 'Hi' }] }],
    ['input[0].content', { input: [{ role: 'user' }] }],
    ['input[0].content[0].text', { input: [{ role: 'user', content: [{ type: 'input_text' }] }] }],
    ['input[0].content', { input: [{ role: 'system', content: [{ type: 'input_image', image_url: 'u' }] }] }],
    ['input[0].type', { input: [{ type: 5 }] }],
    ['input[0].call_id', { input: [{ type: 'function_call', name: 'f', arguments: '{}' }] }],
    ['input[0].arguments', { input: [{ type: 'function_call', name: 'f', call_id: 'c', arguments: 7 }] }],
    ['input[0].output', { input: [{ type: 'function_call_output', call_id: 'c' }] }],
    ['input[0].summary', { input: [{ type: 'reasoning', summary: 'x' }] }],
    ['input[0].action', { input: [{ type: 'local_shell_call', call_id: 'c' }] }],
    ['input[0].tools', { input: [{ type: 'additional_tools', tools: 5 }] }],
    [
      'input[0].tools[0].name',
      { input: [{ type: 'tool_search_output', call_id: 'c', tools: [{ type: 'mcp' }] }] },
    ],
    ['tools', { tools: 'f' }],
    ['tools[0].type', { tools: [{}] }],
    ['tools[0].name', { tools: [{ type: 'function' }] }],
    ['tools[0].parameters', { tools: [{ type: 'function', name: 'f', parameters: [] }] }],
    ['tools[0].tools', { tools: [{ type: 'namespace', name: 'n' }] }],
    ['tools[0].tools[0]', { tools: [{ type: 'namespace', name: 'n', tools: [5] }] }],
    ['tool_choice', { tool_choice: 'sometimes' }],
    ['tool_choice.type', { tool_choice: {} }],
    ['tool_choice', { tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [] } }],
    ['text.format.schema', { text: { format: { type: 'json_schema' } } }],
    ['text.format.type', { text: { format: { type: 'xml' } } }],
    ['reasoning.effort', { reasoning: { effort: 'huge' } }],
    ['include[0]', { include: [5] }],
    ['temperature', { temperature: 'hot' }],
  ] as const) {
    it(`${param}: ${JSON.stringify(members).slice(0, 80)}`, () => {
      assert.throws(
        () => readWith(members as JsonObject),
        (error) => error instanceof BodyError && error.issue.param === param && error.issue.status === 400,
      );
    });
  }
});
