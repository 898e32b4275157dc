import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { translateError } from './index.ts';

const asJson = (status: number, body: unknown, to: 'openai' | 'anthropic') =>
  JSON.parse(
    translateError(
      status,
      Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
      { from: to === 'openai' ? 'anthropic' : 'openai', to },
      'req_1',
    ).toString(),
  );

describe('a translated error', () => {
  for (const [status, body, type, message] of [
    [
      429,
      { error: { message: 'Slow down', type: 'tokens', code: 'rate_limit_exceeded' } },
      'rate_limit_error',
      'Slow down',
    ],
    [529, { error: { message: 'Busy' } }, 'overloaded_error', 'Busy'],
    [422, { detail: 'Extra field' }, 'invalid_request_error', 'Extra field'],
    [500, '<html>Oops</html>', 'api_error', '<html>Oops</html>'],
    [503, '', 'api_error', 'The provider answered 503.'],
    [
      400,
      'id:1\nevent:error\n:HTTP_STATUS/400\ndata:{"code":"x","message":"Bad"}\n\n',
      'invalid_request_error',
      'Bad',
    ],
    [429, ': wait\n\ndata: {"error":{"message":"Slow"}}\n\ndata: [DONE]\n\n', 'rate_limit_error', 'Slow'],
    [
      400,
      [{ error: { code: 400, message: 'Bad', status: 'INVALID_ARGUMENT' } }],
      'invalid_request_error',
      'Bad',
    ],
    [400, { error: null }, 'invalid_request_error', 'The provider answered 400.'],
    [400, 'x'.repeat(100_000), 'invalid_request_error', 'x'.repeat(4_096)],
    [
      400,
      { error: { message: 'The maximum is 8 tokens', code: 'context_length_exceeded' } },
      'invalid_request_error',
      'prompt is too long: The maximum is 8 tokens',
    ],
  ] as const) {
    it(`of ${status} ${JSON.stringify(body).slice(0, 60)} is Anthropic's ${type}`, () => {
      assert.deepEqual(asJson(status, body, 'anthropic'), {
        type: 'error',
        error: { type, message },
        request_id: 'req_1',
      });
    });
  }

  for (const [body, type, code, message] of [
    [
      { type: 'error', error: { type: 'overloaded_error', message: 'Busy' } },
      'overloaded_error',
      null,
      'Busy',
    ],
    [
      { type: 'error', error: { type: 'invalid_request_error', message: 'prompt is too long: 9 > 8' } },
      'invalid_request_error',
      'context_length_exceeded',
      'prompt is too long: 9 > 8',
    ],
    [{ error: { message: 'Bad', code: 'x' } }, 'upstream_error', 'x', 'Bad'],
    [{ error: { message: 'Bad', code: 7 } }, 'upstream_error', '7', 'Bad'],
    [{ error: 'Plain' }, 'upstream_error', null, 'Plain'],
  ] as const) {
    it(`of ${JSON.stringify(body)} is OpenAI's ${type}`, () => {
      assert.deepEqual(asJson(400, body, 'openai'), { error: { message, type, param: null, code } });
    });
  }

  for (const [title, body, shown] of [
    [
      'a text',
      'upstream gone',
      { message: 'upstream gone', type: 'upstream_error', param: null, code: null },
    ],
    [
      'a list',
      [{ error: { message: 'Bad', code: 7 } }],
      { message: 'Bad', type: 'upstream_error', param: null, code: '7' },
    ],
    ['an error', { error: { message: 'Bad', code: 7 } }, { message: 'Bad', code: 7 }],
  ] as const) {
    it(`has an error that clients read, between formats of OpenAI too: ${title}`, () => {
      const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
      const told = translateError(503, bytes, { from: 'openai', to: 'openai' }, 'req_1');
      assert.deepEqual(JSON.parse(told.toString()), { error: shown });
    });
  }
});
