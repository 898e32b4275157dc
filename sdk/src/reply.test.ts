import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { describe, it } from 'node:test';
import { createClient } from './client.ts';
import { GatehouseConnectionError, GatehouseError, GatehouseReplyError } from './errors.ts';
import { MAX_REPLY_BYTES } from './reply.ts';
import { answerJson, startScriptedServer } from './testing/scripted-server.ts';

/** The error of a call that is answered like this. */
async function errorOf(answer: (response: ServerResponse) => void): Promise<GatehouseError> {
  await using server = await startScriptedServer((_, response) => answer(response));
  const { baseUrl } = server;
  const error = await createClient({ baseUrl })
    .organization.listProjects()
    .then(
      () => assert.fail('the call succeeded'),
      (reason: unknown) => reason,
    );
  assert.ok(error instanceof GatehouseError, String(error));
  return error;
}

describe('an error of the API', () => {
  it('has its sentence, request id, hint and the time to wait', async () => {
    const error = await errorOf((response) =>
      answerJson(
        response,
        503,
        { error: 'The database is unavailable.' },
        {
          'x-request-id': 'r-1',
          'retry-after': '7',
          'x-gatehouse-hint': 'Use HTTPS.',
        },
      ),
    );
    assert.equal(error.name, 'GatehouseError');
    assert.deepEqual(
      [
        error.call,
        error.status,
        error.message,
        error.requestId,
        error.retryAfterSeconds,
        error.hint,
        error.issues,
      ],
      ['listProjects', 503, 'The database is unavailable.', 'r-1', 7, 'Use HTTPS.', []],
    );
    assert.deepEqual(error.body, { error: 'The database is unavailable.' });
    assert.ok(!(error instanceof GatehouseReplyError));
  });

  it('has no time to wait where the header is a date or nonsense', async () => {
    for (const value of ['Wed, 21 Oct 2026 07:28:00 GMT', '-1', '1e9', '99999999999999999999']) {
      const error = await errorOf((response) =>
        answerJson(response, 429, { error: 'Slow down.' }, { 'retry-after': value }),
      );
      assert.equal(error.retryAfterSeconds, undefined);
    }
  });

  it('says its issues in one message', async () => {
    const detail = [
      { loc: ['body', 'allowed_models', 3], msg: 'Must be a string.', type: 'wrong_type' },
      { loc: ['body'], msg: 'Must be a JSON object.', type: 'wrong_type' },
    ];
    const error = await errorOf((response) => answerJson(response, 400, { detail }));
    assert.equal(error.message, 'allowed_models.3: Must be a string. body: Must be a JSON object.');
    assert.deepEqual(error.issues, detail);
  });
});

describe('a reply that is not the API’s', () => {
  const page = (status: number) => (response: ServerResponse) => {
    response.writeHead(status, { 'content-type': 'text/html' });
    response.end('<h1>Bad gateway</h1>');
  };
  const refused: readonly [what: string, answer: (response: ServerResponse) => void, message: string][] = [
    ['a page of HTML as an error', page(502), 'status 502, text/html'],
    ['a page of HTML as a success', page(200), 'status 200, text/html, not a JSON object'],
    ['nothing', (response) => response.writeHead(204).end(), 'status 204, no media type, not a JSON object'],
    [
      'a list',
      (response) => answerJson(response, 200, []),
      'status 200, application/json, not a JSON object',
    ],
    [
      'null',
      (response) => answerJson(response, 200, null),
      'status 200, application/json, not a JSON object',
    ],
    [
      'an object without the fields',
      (response) => answerJson(response, 200, { ok: true }),
      'status 200, no projects',
    ],
    [
      'an error without a sentence',
      (response) => answerJson(response, 500, { error: { code: 1 } }),
      'status 500, application/json',
    ],
    [
      'an empty list of issues',
      (response) => answerJson(response, 400, { detail: [7, {}] }),
      'status 400, application/json',
    ],
    [
      'a redirect, which is not followed',
      (response) => response.writeHead(307, { location: 'https://elsewhere.example/api' }).end(),
      'status 307, a redirect to https://elsewhere.example/api',
    ],
    [
      'half of an object',
      (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"projects":['),
      'status 200, application/json, not a JSON object',
    ],
  ];
  for (const [what, answer, message] of refused) {
    it(`is a GatehouseReplyError: ${what}`, async () => {
      const error = await errorOf(answer);
      assert.ok(error instanceof GatehouseReplyError);
      assert.equal(
        error.message,
        `listProjects: not an answer of this API: ${message}. Is baseUrl its address?`,
      );
    });
  }

  it('keeps its text for whom it concerns', async () => {
    assert.equal((await errorOf(page(502))).body, '<h1>Bad gateway</h1>');
  });

  it('is not read beyond 64 MiB, and its connection ends', async () => {
    const chunk = new Uint8Array(1024 * 1024).fill(32);
    let sent = 0;
    let isCancelled = false;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += chunk.byteLength;
        controller.enqueue(chunk);
      },
      cancel() {
        isCancelled = true;
      },
    });
    const client = createClient({
      baseUrl: 'http://localhost/api',
      fetch: async () => new Response(endless, { headers: { 'content-type': 'application/json' } }),
    });
    await assert.rejects(client.organization.listProjects(), (error) => {
      assert.ok(error instanceof GatehouseConnectionError);
      assert.equal(error.message, `listProjects: the reply is longer than ${MAX_REPLY_BYTES} bytes.`);
      return true;
    });
    assert.ok(isCancelled);
    assert.ok(sent <= MAX_REPLY_BYTES + 3 * chunk.byteLength, `${sent}`);
  });
});
