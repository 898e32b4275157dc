import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type ApiError,
  analyticsUnavailable,
  badRequest,
  bodyTooLarge,
  conflict,
  DetailBody,
  ErrorBody,
  forbidden,
  InternalErrorBody,
  invalid,
  methodNotAllowed,
  notAuthenticated,
  notFound,
  tooManyRequests,
  UnauthorizedBody,
  unauthorized,
  unavailable,
  unsupportedMediaType,
} from './errors.ts';

const issue = { loc: ['body', 'name'], msg: 'Must be a string.', type: 'wrong_type' };

describe('API errors', () => {
  for (const [title, error, status, body, headers = {}] of [
    ['invalid', invalid([issue, issue]), 400, { detail: [issue, issue] }],
    ['badRequest', badRequest('No.'), 400, { error: 'No.' }],
    ['unauthorized', unauthorized(), 401, { detail: 'Unauthorized' }],
    ['notAuthenticated', notAuthenticated('Who?'), 401, { error: 'Who?' }],
    ['forbidden', forbidden('Not you.'), 403, { error: 'Not you.' }],
    ['notFound', notFound('Key'), 404, { error: 'Key not found.' }],
    [
      'methodNotAllowed',
      methodNotAllowed(['GET', 'POST']),
      405,
      { error: 'This path accepts GET, POST only.' },
      { allow: 'GET, POST' },
    ],
    ['conflict', conflict('Taken.'), 409, { error: 'Taken.' }],
    [
      'bodyTooLarge',
      bodyTooLarge(65_536),
      413,
      { error: 'The body is larger than the 65536 bytes that are accepted.' },
    ],
    ['unsupportedMediaType', unsupportedMediaType(issue), 415, { detail: [issue] }],
    ['tooManyRequests', tooManyRequests('Slow.', 7), 429, { error: 'Slow.' }, { 'retry-after': '7' }],
    ['unavailable', unavailable('Later.'), 503, { error: 'Later.' }],
    ['unavailable for a while', unavailable('Later.', 1), 503, { error: 'Later.' }, { 'retry-after': '1' }],
    ['analyticsUnavailable', analyticsUnavailable(), 503, { error: 'analytics backend unavailable' }],
  ] as [string, ApiError, number, Record<string, unknown>, Record<string, string>?][]) {
    it(`${title} answers ${status} in one of the three forms`, () => {
      assert.equal(error.status, status);
      assert.deepEqual(error.body, body);
      assert.deepEqual(error.headers, headers);
      const forms = [ErrorBody, UnauthorizedBody, DetailBody].filter((form) => form.safeParse(body).success);
      assert.equal(forms.length, 1);
    });
  }

  it('capture no stack trace, and leave those of other errors alone', () => {
    assert.doesNotMatch(String(unavailable('Later.').stack), /\n/);
    assert.match(String(new Error('other').stack), /\n +at /);
    assert.equal(String(unavailable('Later.')), 'ApiError: 503 {"error":"Later."}');
  });
});

describe('the forms of an error', () => {
  it('admit nothing else', () => {
    for (const body of [{}, { error: 5 }, { error: 'x', detail: 'y' }, { error: 'x', stack: 'y' }])
      assert.equal(ErrorBody.safeParse(body).success, false);
    for (const body of [{ detail: 'unauthorized' }, { detail: [] }])
      assert.equal(UnauthorizedBody.safeParse(body).success, false);
    for (const body of [{ detail: [] }, { detail: 'Unauthorized' }, { detail: [{ ...issue, input: 1 }] }])
      assert.equal(DetailBody.safeParse(body).success, false);
    assert.equal(InternalErrorBody.safeParse({ error: 'internal error', request_id: 'r' }).success, true);
    for (const body of [{ error: 'internal error' }, { error: 'duplicate key', request_id: 'r' }])
      assert.equal(InternalErrorBody.safeParse(body).success, false);
  });
});
