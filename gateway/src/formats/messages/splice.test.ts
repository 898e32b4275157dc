import assert from 'node:assert/strict';
import { it } from 'node:test';
import { seedsUpTo } from '@gatehouse/concurrency/testing';
import { RandomJson } from '../../testing/random-json.ts';
import { callsOf, upstreamBody } from '../../testing/test-call.ts';

// Random bodies in every spelling that JSON allows. The provider gets the caller's bytes but for the model and the cap.

const BODIES = 2_000;
const MODEL = '¤model¤';
const CAP = '¤cap¤';

/** A body with marks in the places that are changed. */
function templateOf(json: RandomJson): string {
  const content = json.value();
  const members = json.shuffled<readonly [string, string]>([
    ['model', MODEL],
    ['messages', `[${json.object([['content', content]])}]`],
    ...json.some<readonly [string, string]>(
      ['max_tokens', CAP],
      ['stream', json.one(['true', 'false', 'null'])],
      ['stream_options', json.value()],
      ['max_completion_tokens', json.value()],
      ['system', json.one(['"Be kind."', '[]', 'null'])],
      ['metadata', json.value()],
      ['thinking', json.value()],
      ['__proto__', json.value()],
      ['é', json.value()],
      ['', json.value()],
    ),
  ]);
  return `${json.space()}${json.object(members)}${json.space()}`;
}

for (const surface of ['messages', 'count_tokens'] as const) {
  it(`${BODIES} random bodies reach the provider byte for byte but for the model and the cap: ${surface}`, async () => {
    for (const seed of seedsUpTo(BODIES)) {
      const json = new RandomJson(seed);
      const template = templateOf(json);
      const cap = json.one(['7', '64000', '1e2', 'null', '0']);
      const sent = template.replace(MODEL, json.string('model')).replace(CAP, cap);
      const hasCap = template.includes(CAP);
      const isCapped = surface === 'messages';
      const expected = template
        .replace(MODEL, `"up \\"☕\\""${isCapped && !hasCap ? ',"max_tokens":5' : ''}`)
        .replace(CAP, isCapped ? '5' : cap);
      const call = (await callsOf(surface, sent))();
      const target = { upstreamModel: 'up "☕"', outputCap: isCapped ? 5 : 0 };
      assert.equal(upstreamBody(surface, call, target), expected, `seed ${seed}: ${sent}`);
    }
  });
}
