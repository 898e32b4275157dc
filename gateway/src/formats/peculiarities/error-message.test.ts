import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { errorBeside, errorInstead, readErrorMessage, wordsOfFailure } from './error-message.ts';

describe('the words of an error', () => {
  for (const [title, value, words] of [
    ["OpenAI's", { error: { message: 'no', code: 'x' } }, 'no'],
    ['a text', { error: 'no' }, 'no'],
    ["vLLM's", { object: 'error', message: 'no', code: 400 }, 'no'],
    ["Zhipu's", { code: '1113', msg: 'no' }, 'no'],
    ["Baidu's", { error_code: 18, error_msg: 'no' }, 'no'],
    ["MiniMax's", { choices: null, base_resp: { status_code: 1008, status_msg: 'no' } }, 'no'],
    ["Mistral's", { object: 'error', message: { detail: [{ loc: ['body'], msg: 'no' }] } }, 'no'],
    ["FastAPI's", { detail: [{ msg: 'no' }, { msg: 'nor this' }] }, 'no; nor this'],
    ["Cloudflare's", { success: false, errors: [{ code: 7, message: 'no' }], messages: [] }, 'no'],
    ["Gemini's", [{ error: { code: 400, message: 'no' } }], 'no'],
    ["AWS's", { Message: 'no' }, 'no'],
    ["AWS Lambda's", { errorType: 'ValueError', errorMessage: 'no', stackTrace: [] }, 'no'],
    [
      "OpenRouter's with the provider's in JSON",
      { error: { message: 'Failed', metadata: { raw: '{"error":{"message":"no"}}' } } },
      'Failed: no',
    ],
    ["OpenRouter's with a text", { error: { message: 'Failed', metadata: { raw: 'no' } } }, 'Failed: no'],
    ['no quotation', { error: { message: 'no', metadata: { provider_name: 'x' } } }, 'no'],
    ["OAuth's", { error: 'invalid_request', error_description: 'no' }, 'no'],
    ["Spring's", { status: 400, error: 'Bad Request', message: 'no' }, 'no'],
    ["Volcengine's", { ResponseMetadata: { Error: { Code: 'x', Message: 'no' } } }, 'no'],
    ["a gateway's around the provider's", { error: { upstream_error: { error: { message: 'no' } } } }, 'no'],
    ["Apigee's", { fault: { faultstring: 'no' } }, 'no'],
    ["Bedrock's", { throttlingException: { message: 'no' } }, 'no'],
    ['blank ones beside', { error: { message: ' ' }, detail: 'no' }, 'no'],
    ['only the first of many', { detail: ['a', 'b', 'c', 'd'] }, 'a; b; c'],
    ['none', { code: 7 }, undefined],
    ['none in a number', 7, undefined],
  ] as const) {
    it(`are found: ${title}`, () => assert.equal(readErrorMessage(value), words));
  }

  it('are found within what holds an answer elsewhere only where it is known to be an error', () => {
    for (const value of [
      { Response: { Error: { Code: 'x', Message: 'no' }, RequestId: 'r' } },
      { Output: { __type: 'ValidationException', message: 'no' }, Version: '1.0' },
      { success: false, data: { message: 'no' } },
      { result: { error: 'no' } },
    ]) {
      assert.deepEqual([wordsOfFailure(value), readErrorMessage(value)], ['no', undefined]);
    }
    assert.equal(wordsOfFailure({ data: { message: 'nor this' }, message: 'no' }), 'no');
    assert.equal(wordsOfFailure({ data: [{ message: 'no' }] }), undefined);
  });

  it('are bounded in depth and length', () => {
    let deep: unknown = 'no';
    for (let depth = 0; depth < 10_000; depth += 1) deep = { error: deep };
    assert.equal(readErrorMessage(deep), undefined);
    assert.equal(readErrorMessage({ error: 'x'.repeat(1_000_000) })?.length, 65_536);
  });
});

describe('an event in place of one of its format', () => {
  for (const [title, name, data, words] of [
    ['a code and a message', undefined, { code: 'Throttling', message: 'slow' }, 'slow'],
    ['a code and msg', undefined, { code: 500, msg: 'busy', success: false }, 'busy'],
    ['a detail', undefined, { detail: 'loading' }, 'loading'],
    ['an error code', undefined, { error_code: 336501, error_msg: 'rate' }, 'rate'],
    [
      'a status',
      undefined,
      { base_resp: { status_code: 1002, status_msg: 'limit' }, choices: null },
      'limit',
    ],
    ['a denial', undefined, { success: false }, 'an error without a message'],
    ['a type', undefined, { type: 'BadRequestError', message: 'no', code: 400 }, 'no'],
    ['a name', 'error', { message: 'no' }, 'no'],
    ['a list', undefined, [{ error: { message: 'no' } }], 'no'],
    ['a success', undefined, { code: 0, message: 'ok' }, undefined],
    ['a success in words', undefined, { code: 'success', msg: 'done' }, undefined],
    ['an all-clear', undefined, { base_resp: { status_code: 0, status_msg: 'success' } }, undefined],
    ['an exception', undefined, { throttlingException: { message: 'slow' } }, 'slow'],
    ['no error', undefined, { error: false, queue: 1 }, undefined],
    ['a ping', 'ping', { type: 'ping' }, undefined],
    ['a kind of its own', undefined, { type: 'queue', message: 'position 3' }, undefined],
    ['citations', undefined, { id: 'c', citations: ['https://example.com'] }, undefined],
    ['nothing', undefined, null, undefined],
  ] as const) {
    it(`is ${words === undefined ? 'no ' : 'an '}error: ${title}`, () =>
      assert.equal(errorInstead(name, JSON.stringify(data), data), words));
  }

  it('is an error by its name, whatever its text', () => {
    assert.equal(errorInstead('error', 'connect refused', undefined), 'connect refused');
    assert.equal(errorInstead('error', '', undefined), 'an error without a message');
    assert.equal(errorInstead(undefined, 'hello', undefined), undefined);
    assert.equal(errorInstead(undefined, '{"error":', undefined), undefined);
    assert.equal(errorInstead(undefined, 'Internal Server Error', undefined), 'Internal Server Error');
  });
});

describe('an error beside an answer', () => {
  it('is the member error, or a status that is none of success', () => {
    assert.equal(errorBeside({ choices: [], error: { message: 'no' } }), 'no');
    assert.equal(errorBeside({ base_resp: { status_code: 1008, status_msg: 'no' } }), 'no');
    assert.equal(errorBeside({ choices: [], x_groq: { id: 'x', error: 'no' } }), 'no');
    for (const fine of [
      { error: null },
      { error: {} },
      { error: '' },
      { msg: 'ok', code: 200 },
      { base_resp: { status_code: 0 } },
      { x_groq: { id: 'x', usage: {} } },
    ])
      assert.equal(errorBeside(fine), undefined, JSON.stringify(fine));
  });
});
