import assert from 'node:assert/strict';
import { it } from 'node:test';
import { finishOf } from './finish-reasons.ts';

for (const [reason, finish] of [
  ['stop', 'stop'],
  ['STOP', 'stop'],
  ['end_turn', 'stop'],
  ['MAX_TOKENS', 'length'],
  ['model_length', 'length'],
  ['Max Output Tokens', 'length'],
  ['tool_calls', 'toolCalls'],
  ['tool-calls', 'toolCalls'],
  ['SAFETY', 'contentFilter'],
  ['content-filter', 'contentFilter'],
  ['error', 'failed'],
  ['insufficient_system_resource', 'failed'],
  ['MALFORMED_RESPONSE', 'failed'],
  ['FinishReason.STOP', 'stop'],
  ['FINISH_REASON_UNSPECIFIED', undefined],
  ['something new', 'unknown'],
  ['', undefined],
  ['null', undefined],
  [null, undefined],
  [7, undefined],
] as const) {
  it(`the finish reason ${JSON.stringify(reason)} is ${finish ?? 'none'}`, () =>
    assert.equal(finishOf(reason), finish));
}
