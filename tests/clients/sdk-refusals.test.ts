import assert from 'node:assert/strict';
import { afterEach, before, describe, it } from 'node:test';
import {
  addRoute,
  assertNoDelays,
  flush,
  issueKey,
  json,
  READ_ON_MS,
  ROUTE_TIMEOUT_MS,
  useBench,
} from '@gatehouse/gateway/testing';
import { model } from './model.ts';
import { type Question, SDK_CLIENTS, type SdkClient } from './sdks/index.ts';

// What the SDKs make of errors: which they try again, and what a program is told.

const bench = await useBench();

const ROUTES = { chat: 'some/chat', responses: 'some/responses', messages: 'some/messages' } as const;
const PATHS = { chat: '/chat/completions', responses: '/responses', messages: '/messages' } as const;
const TRANSLATED = { chat: 'some/messages', responses: 'some/chat', messages: 'some/chat' } as const;
const RETRIES = 2;
const LONG_ANSWER = 'Half an answer that goes on and on';

describe('SDKs and errors', () => {
  before(async () => {
    const { baseUrl } = bench.provider;
    const all = {
      endpoints: ['chat', 'responses', 'messages'],
      maxInputTokens: 400_000,
      maxOutputTokens: 64_000,
    };
    for (const [surface, id] of Object.entries(ROUTES)) {
      const flags = { surfaces: { [surface]: PATHS[surface as keyof typeof PATHS] } };
      const protocol = surface === 'messages' ? 'anthropic' : 'openai';
      await addRoute(bench.database, { ...all, baseUrl, id, protocol, flags });
    }
    await addRoute(bench.database, { ...all, id: 'nobody/listens', baseUrl: 'http://127.0.0.1:9/v1' });
  });
  afterEach(async () => {
    bench.provider.asked.length = 0;
    bench.provider.script = model(() => ({ text: 'Hi.' }));
    await assertNoDelays(bench.gateway.time);
  });

  type KeyOptions = Parameters<typeof issueKey>[1];
  const set = async (client: SdkClient, route: string, options: KeyOptions = {}, maxRetries = RETRIES) => {
    const key = await issueKey(bench.database, options);
    const open = await client.open({ port: bench.gateway.port, secret: key.secret, maxRetries, fetch });
    const question: Question = { model: route, prompt: 'Hi' };
    const records = async (count: number) => {
      const own = () => bench.gateway.journal.records.filter(({ keyId }) => keyId === key.id);
      while (own().length < count)
        await bench.gateway.journal.count(bench.gateway.journal.records.length + 1);
      return own();
    };
    return { open, question, records };
  };

  for (const client of SDK_CLIENTS) {
    const native = ROUTES[client.endpoint];

    for (const [title, status, route, options, words] of [
      ['an expired key', 401, native, { expiresIn: '-1 second' }, /expired/],
      ['a key without credit', 402, native, { creditLimitMicroPkr: 1n }, /credit/],
      ['a model outside the list of the key', 403, native, { allowedModels: ['other'] }, /may not use/],
      ['a model with a wrong name', 404, `${native}s`, {}, new RegExp(native)],
    ] as const) {
      it(`${client.name}: ${title} is ${status}, after one request`, async () => {
        const { open, question, records } = await set(client, route, options);
        const error = await rejection(open.ask(question));
        assert.equal(statusOf(error), status);
        assert.match(textOf(error), words);
        assert.equal((await records(1)).length, 1);
      });
    }

    it(`${client.name}: tries again what waiting cures, and gets its answer`, async () => {
      for (const status of [429, 503]) {
        const { open, question, records } = await set(client, native);
        const answer = model(() => ({ text: 'At last.' }));
        const asked = bench.provider.asked.length;
        bench.provider.script = (response, one) =>
          bench.provider.asked.length === asked + 1
            ? json({ type: 'error', error: { type: 'overloaded', message: 'Too busy.' } }, status, {
                'retry-after': '0',
              })(response, one)
            : answer(response, one);
        assert.equal((await open.ask(question)).text, 'At last.');
        assert.deepEqual(
          (await records(2)).map((record) => record.status),
          [status, 200],
        );
      }
    });

    it(`${client.name}: 502 when the provider cannot be reached, 504 when it does not answer`, async () => {
      const unreachable = await set(client, 'nobody/listens', {}, 0);
      assert.equal(statusOf(await rejection(unreachable.open.ask(unreachable.question))), 502);
      const slow = await set(client, native, {}, 0);
      bench.provider.script = () => {
        bench.gateway.time.fire(ROUTE_TIMEOUT_MS);
      };
      const error = await rejection(slow.open.ask(slow.question));
      assert.equal(statusOf(error), 504);
      assert.match(textOf(error), /did not answer within/);
      assert.equal((await slow.records(1))[0]?.terminationReason, 'proxy_guillotine');
    });

    for (const [title, routes] of [
      ['native', ROUTES],
      ['translated', TRANSLATED],
    ] as const) {
      it(`${client.name}: a ${title} stream that breaks is an error with a reason`, async () => {
        const { open, question, records } = await set(client, routes[client.endpoint], {}, 0);
        bench.provider.script = beginning;
        const pieces: string[] = [];
        const error = await rejection(open.stream(question, (piece) => pieces.push(piece)));
        assert.doesNotMatch(textOf(error), /terminated|socket|premature|ended without|Connection error/i);
        assert.match(textOf(error), /provider|upstream/i);
        assert.ok(LONG_ANSWER.startsWith(pieces.join('')));
        assert.equal((await records(1))[0]?.terminationReason, 'upstream_stream_aborted');
      });
    }

    it(`${client.name}: a caller that aborts its stream ends the provider's work`, async () => {
      const { open, question, records } = await set(client, native, {}, 0);
      const leaving = new AbortController();
      bench.provider.script = (response, asked) => beginning(response, asked, false);
      await rejection(open.stream({ ...question, signal: leaving.signal }, () => leaving.abort()));
      // The gateway reads on for a while to learn what the answer cost; the provider never says.
      const [asked] = bench.provider.asked;
      await bench.gateway.time.started(READ_ON_MS);
      bench.gateway.time.fire(READ_ON_MS);
      await asked?.aborted;
      assert.equal((await records(1))[0]?.terminationReason, 'client_disconnect');
    });
  }

  /** The first events of a stream that then breaks, or goes on for ever. */
  const beginning = async (
    response: Parameters<ReturnType<typeof model>>[0],
    asked: Parameters<ReturnType<typeof model>>[1],
    breaks = true,
  ) => {
    const events: string[] = [];
    const collect = { writeHead: () => collect, end: (text: string) => events.push(text) };
    await model(() => ({ text: LONG_ANSWER }))(collect as never, asked);
    const all = (events[0] ?? '').split(/(?<=\n\n)/);
    const first = all.findIndex((event) => event.includes(LONG_ANSWER.slice(0, 10)));
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of all.slice(0, first + 1)) await flush(response, event);
    if (breaks) response.destroy();
  };
});

async function rejection(promise: Promise<unknown>): Promise<unknown> {
  const outcome = await promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if ('value' in outcome) assert.fail(`there was no error but ${JSON.stringify(outcome.value)}`);
  return outcome.error;
}

/** The errors that an SDK wraps, from the outermost. */
function chainOf(error: unknown): Record<string, unknown>[] {
  const chain: Record<string, unknown>[] = [];
  for (let one = error; typeof one === 'object' && one !== null && chain.length < 8; ) {
    const members = one as Record<string, unknown>;
    chain.push(members);
    one = members['lastError'] ?? members['cause'];
  }
  return chain;
}

function statusOf(error: unknown): unknown {
  return chainOf(error)
    .map((one) => one['status'] ?? one['statusCode'])
    .find((status) => status !== undefined);
}

function textOf(error: unknown): string {
  return chainOf(error)
    .map((one) => `${String(one['message'])} ${JSON.stringify(one['error'] ?? one['data'] ?? '')}`)
    .join('\n');
}
