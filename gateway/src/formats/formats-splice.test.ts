import assert from 'node:assert/strict';
import { it } from 'node:test';
import { seedsUpTo } from '@gatehouse/concurrency/testing';
import { RandomJson } from '../testing/random-json.ts';
import { callsOf, upstreamBody } from '../testing/test-call.ts';
import { sealToText } from './translation/reasoning.ts';

// Random bodies in every spelling that JSON allows. The provider gets the caller's bytes but for the model, the cap and
// the tools that are left out.

const BODIES = 1_000;
const MODEL = '¤model¤';
const CAP = '¤cap¤';

/** The format, its cap, and the member that it must have. */
const FORMATS = [
  ['responses', 'max_output_tokens', ['input', '"Hi"']],
  ['completions', 'max_tokens', ['prompt', '[1, 2.0]']],
  ['embeddings', undefined, ['input', '[ "a" ,"b"]']],
] as const;

for (const [surface, cap, required] of FORMATS) {
  it(`${BODIES} random bodies reach the provider byte for byte but for the model and the cap: ${surface}`, async () => {
    for (const seed of seedsUpTo(BODIES)) {
      const json = new RandomJson(seed);
      const members = json.shuffled<readonly [string, string]>([
        ['model', MODEL],
        required,
        ...json.some<readonly [string, string]>(
          ...(cap === undefined ? [] : ([[cap, CAP]] as const)),
          ['stream', json.one(['false', 'null'])],
          ['max_completion_tokens', json.value()],
          ['reasoning', json.value()],
          ['metadata', json.value()],
          ['__proto__', json.value()],
          ['é', json.value()],
          ['', json.value()],
        ),
      ]);
      const template = `${json.space()}${json.object(members)}${json.space()}`;
      const added = cap === undefined || template.includes(CAP) ? '' : `,"${cap}":5`;
      const sent = template.replace(MODEL, json.string('model')).replace(CAP, json.one(['7', '1e2', 'null']));
      const expected = template.replace(MODEL, `"up \\"☕\\""${added}`).replace(CAP, '5');
      const call = (await callsOf(surface, sent))();
      const target = { upstreamModel: 'up "☕"', outputCap: 5 };
      assert.equal(upstreamBody(surface, call, target), expected, `seed ${seed}: ${sent}`);
    }
  });
}

it(`of ${BODIES} random lists of tools only those go that are left out`, async () => {
  for (const seed of seedsUpTo(BODIES)) {
    const json = new RandomJson(seed);
    const tools = Array.from({ length: json.one([1, 2, 3, 5]) }, () =>
      json.object([
        ['type', json.string(json.one(['web_search', 'web_search', 'function', 'custom']))],
        ['x', json.value()],
      ]),
    );
    const list = `[${json.space()}${tools.join(`${json.space()},${json.space()}`)}${json.space()}]`;
    const before = `{"input":"Hi",${json.space()}"tools"${json.space()}:`;
    const after = `${json.space()},"model":"m"}`;
    const call = (await callsOf('responses', before + list + after))();
    const droppedTools = new Set(['web_search']);
    const upstream = upstreamBody('responses', call, { upstreamModel: 'm', droppedTools });
    assert.ok(upstream.startsWith(before) && upstream.endsWith(after), `seed ${seed}: ${upstream}`);
    const left = upstream.slice(before.length, upstream.length - after.length);
    const kept = tools.filter((tool) => JSON.parse(tool).type !== 'web_search');
    assert.deepEqual(JSON.parse(left), JSON.parse(`[${kept.join()}]`), `seed ${seed}: ${list}`);
    // Each that is left has its own bytes.
    let at = 0;
    for (const tool of kept) at = left.indexOf(tool.trim(), at) + 1 || assert.fail(`seed ${seed}: ${left}`);
  }
});

it('reasoning of another provider that stands in place of a reference does not reach a provider of responses', async () => {
  const seal = sealToText({ kind: 'signature', value: 's' });
  const item = (id: string, encrypted_content: unknown) =>
    JSON.stringify({ type: 'reasoning', id, summary: [], encrypted_content });
  const own = `rs_gk${'0'.repeat(32)}_0`;
  const others = ['{"role":"user", "content":"Hi"}', item('rs_1', seal), item(own, 'x')];
  const body = (items: readonly string[]) => `{"model":"m","input":[${items.join(' , ')}]}`;
  for (let at = 0; at <= others.length; at += 1) {
    const sent = body(others.toSpliced(at, 0, item(own, seal), item(own, seal)));
    const upstream = upstreamBody('responses', (await callsOf('responses', sent))(), { upstreamModel: 'm' });
    assert.equal(upstream, body(others));
  }
});
