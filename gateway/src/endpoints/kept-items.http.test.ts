import assert from 'node:assert/strict';
import { before, beforeEach, describe, it } from 'node:test';
import { runSql } from '@gatehouse/store/testing';
import { MINUTE_BYTES } from '../kept-items/kept-items.ts';
import { hashOfId } from '../kept-items/sealed-item.ts';
import { assertError, useBench } from '../testing/bench.ts';
import { event as messagesEvent } from '../testing/mock-messages.ts';
import { chunk, DONE, json, sse, usageOf } from '../testing/mock-provider.ts';
import { MOCK_SURFACES } from '../testing/mock-surfaces.ts';
import { addRoute, issueKey } from '../testing/test-gateway.ts';

// `item_reference` to what a translated answer said: the AI SDK sends these from the second step of a tool loop on.

const bench = await useBench({ bodyLimitBytes: 4 * 1024 ** 2 });
const QUESTION = { role: 'user', content: [{ type: 'input_text', text: 'Look.' }] };
const TOOLS = [{ type: 'function', name: 'look', parameters: { type: 'object', properties: {} } }];
const STEPS = 5;

type Item = Record<string, unknown> & { readonly id: string; readonly type: string };

async function ask(surface: string, body: object, secret = bench.key.secret): Promise<Response> {
  const members = { model: `mock/${surface}`, max_output_tokens: 50, tools: TOOLS };
  return bench.gateway.post('/v1/responses', secret, { ...members, ...body });
}

async function itemsOf(response: Response): Promise<readonly Item[]> {
  const text = await response.text();
  assert.equal(response.status, 200, text);
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream');
  const last = isStream ? text.slice(text.lastIndexOf('\ndata: ') + 7) : text;
  const value = JSON.parse(last) as { output?: Item[]; response?: { output: Item[] } };
  return value.output ?? value.response?.output ?? assert.fail(text);
}

const longAnswer = (characters: number) => ({
  ...{ id: 'c', model: 'm', usage: usageOf({ prompt: 1, completion: 1 }) },
  choices: [{ index: 0, finish_reason: 'stop', message: { content: 'x'.repeat(characters) } }],
});
const said = (step: number) => `Step ${step}: a "quoted" ☕.`;
const input = (step: number) => `{"step": ${step}}`;

/** The provider's answer to a step: a text and a call, each in its own format. */
function answerOf(surface: 'chat' | 'messages', step: number, isStream: boolean) {
  if (surface === 'chat') {
    const call = { id: `call_${step}`, type: 'function', function: { name: 'look', arguments: input(step) } };
    const message = { role: 'assistant', content: said(step), tool_calls: [call] };
    const choice = { index: 0, finish_reason: 'tool_calls' };
    const usage = usageOf({ prompt: 9, completion: 4 });
    if (!isStream) return json({ id: 'c', model: 'm', choices: [{ ...choice, message }], usage });
    const delta = { ...message, tool_calls: [{ index: 0, ...call }] };
    return sse(chunk({ choices: [{ ...choice, delta }] }), chunk({ choices: [], usage }), DONE);
  }
  const blocks = [
    { type: 'text', text: said(step) },
    { type: 'tool_use', id: `call_${step}`, name: 'look', input: { step } },
  ];
  const usage = { input_tokens: 9, output_tokens: 4 };
  const message = { id: 'm', type: 'message', role: 'assistant', model: 'm', stop_reason: 'tool_use', usage };
  if (!isStream) return json({ ...message, content: blocks });
  return sse(
    messagesEvent('message_start', { message: { ...message, content: [] } }),
    ...blocks.flatMap((block, index) => [
      messagesEvent('content_block_start', { index, content_block: block }),
      messagesEvent('content_block_stop', { index }),
    ]),
    messagesEvent('message_delta', { delta: { stop_reason: 'tool_use' }, usage }),
    messagesEvent('message_stop'),
  );
}

describe('items of translated responses', () => {
  before(async () => {
    for (const surface of ['chat', 'messages'] as const) {
      const { protocol, flags } = MOCK_SURFACES[surface];
      const baseUrl = bench.provider.baseUrl;
      await addRoute(bench.database, {
        ...{ id: `mock/${surface}`, protocol, flags, baseUrl },
        endpoints: ['chat', 'messages', 'responses'],
      });
    }
  });
  beforeEach(() => runSql(bench.owner)`DELETE FROM kept_items`);

  for (const surface of ['chat', 'messages'] as const) {
    for (const stream of [false, true]) {
      it(`200 in each step of a tool loop on ${surface} that refers to the steps before (stream: ${stream})`, async () => {
        const sent: object[] = [QUESTION];
        let prompt = 0;
        for (let step = 0; step < STEPS; step += 1) {
          bench.provider.script = answerOf(surface, step, stream);
          const response = await ask(surface, { input: sent, stream });
          const items = await itemsOf(response);
          assert.deepEqual(
            items.map(({ type }) => type),
            ['message', 'function_call'],
          );
          for (const { id } of items) sent.push({ type: 'item_reference', id });
          const call_id = items[1]?.['call_id'];
          sent.push({ type: 'function_call_output', call_id, output: `Result ${step}` });
          const asked = JSON.stringify(bench.provider.asked.at(-1)?.body);
          for (let earlier = 0; earlier < step; earlier += 1) {
            for (const text of [said(earlier), `call_${earlier}`, `Result ${earlier}`]) {
              assert.ok(asked.includes(JSON.stringify(text).slice(1, -1)), `${text} in ${asked}`);
            }
          }
          assert.doesNotMatch(asked, /item_reference/);
          assert.equal(response.headers.get('x-gatehouse-dropped'), null);
          assert.ok(asked.length > prompt);
          prompt = asked.length;
        }
      });
    }
  }

  const first = async () => {
    bench.provider.script = answerOf('chat', 0, false);
    return itemsOf(await ask('chat', { input: [QUESTION] }));
  };
  const refer = (items: readonly Item[], secret?: string) =>
    ask('chat', { input: [QUESTION, ...items.map(({ id }) => ({ type: 'item_reference', id }))] }, secret);

  it('400 for what another organisation was answered, for what is an hour old, and for what never was', async () => {
    const items = await first();
    const other = await issueKey(bench.database);
    const expected = {
      status: 400,
      code: 'invalid_request',
      type: 'invalid_request_error',
      param: 'input[1]',
    };
    assert.match(await assertError(await refer(items, other.secret), expected), /kept for an hour/);
    const invented = items.map((item) => ({ ...item, id: item.id.replace(/gk.{4}/, 'gk0000') }));
    await assertError(await refer(invented), expected);
    await runSql(bench.owner)`UPDATE kept_items SET kept_until = clock_timestamp() - interval '1 second'`;
    await assertError(await refer(items), expected);
  });

  it('keeps nothing readable, and nothing where the caller sends its items whole', async () => {
    const items = await first();
    const [row] = await runSql<{ sealed: Buffer; id_hash: Buffer }>(bench.owner)`
      SELECT sealed, id_hash FROM kept_items WHERE id_hash = ${hashOfId(items[0]?.id ?? '')}`;
    assert.ok(row && !row.sealed.includes('Step'));
    await runSql(bench.owner)`DELETE FROM kept_items`;
    bench.provider.script = answerOf('chat', 0, false);
    const whole = await itemsOf(await ask('chat', { input: [QUESTION], store: false }));
    assert.ok(whole.every(({ id }) => !id.includes('gk')));
    assert.deepEqual(await runSql(bench.owner)`SELECT FROM kept_items`, []);
  });

  it('400 for an item that was changed in the database', async () => {
    const items = await first();
    await runSql(bench.owner)`UPDATE kept_items SET sealed = set_byte(sealed, 0, get_byte(sealed, 0) # 1)`;
    await assertError(await refer(items), {
      ...{ status: 400, code: 'invalid_request', type: 'invalid_request_error', param: 'input[1]' },
    });
  });

  it('keeps so many bytes of an organisation in a minute, and answers all the same', async () => {
    const { secret } = await issueKey(bench.database);
    const bytes = 200_000;
    const most = Math.floor(MINUTE_BYTES / bytes);
    bench.provider.script = json(longAnswer(bytes));
    const ids: string[] = [];
    for (let count = 0; count < most + 2; count += 1) {
      const [item] = await itemsOf(await ask('chat', { input: [QUESTION] }, secret));
      ids.push(item?.id ?? assert.fail());
    }
    const [row] = await runSql<{ items: number }>(bench.owner)`
      SELECT count(*)::integer AS items FROM kept_items`;
    assert.equal(row?.items, most);
    const last = { type: 'item_reference', id: ids.at(-1) };
    await assertError(await ask('chat', { input: [QUESTION, last] }, secret), {
      ...{ status: 400, code: 'invalid_request', type: 'invalid_request_error', param: 'input[1]' },
    });
  });

  it('413 where the items make the body larger than one may be, and 400 for too many references', async () => {
    const { secret } = await issueKey(bench.database);
    bench.provider.script = json(longAnswer(200_000));
    const [item] = await itemsOf(await ask('chat', { input: [QUESTION] }, secret));
    assert.ok(item);
    const many = (count: number) =>
      refer(
        Array.from({ length: count }, () => item),
        secret,
      );
    const large = await many(30);
    assert.equal(large.status, 413, await large.text());
    await assertError(await many(1_001), {
      ...{ status: 400, code: 'invalid_request', type: 'invalid_request_error', param: 'input' },
    });
  });
});
