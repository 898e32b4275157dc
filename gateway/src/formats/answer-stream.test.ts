import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { chunk, DONE, delta } from '../testing/mock-provider.ts';
import { REDACTED, redactionOf } from '../wire/redaction.ts';
import { chat } from './chat/index.ts';

const secret = 'sk-platform-0123456789abcdef';
const redaction = redactionOf(secret);

function pass(events: readonly string[], options: { showsUsage?: boolean } = {}) {
  const stream = chat.openStream({ showsUsage: options.showsUsage ?? false, choices: 1, redaction });
  const passed = events.map((event) => stream.push(Buffer.from(event)).toString());
  return { passed, all: passed.join('') + stream.end().toString() };
}

/** The text that a client puts together. */
function textOf(events: string, member = 'content'): string {
  return [...events.matchAll(/^data: (\{.*)$/gm)]
    .flatMap(([, data = '']) => JSON.parse(data).choices as { delta: Record<string, string> }[])
    .map((one) => one.delta[member] ?? '')
    .join('');
}

describe('a stream that repeats the secret of its provider', () => {
  for (const [title, event] of [
    ['in a comment', `: ${secret}\n\n`],
    ['in something else', `data: {"x":{"y":["${secret}"]}}\n\n`],
    ['in what is no JSON', `data: {"${secret}"\n\n`],
    ['by codes', `data: {"choices":[{"delta":{"content":"\\u0073${secret.slice(1)}"}}]}\n\n`],
    ['in an error', `data: {"error":{"message":"bad key ${secret}"}}\n\n`],
    ['in the end mark', `id: ${secret}\ndata: [DONE]\n\n`],
  ] as const) {
    it(`lets nothing of it through ${title}, and the rest as it came`, () => {
      const expected = event.replace(`\\u0073${secret.slice(1)}`, REDACTED).replace(secret, REDACTED);
      assert.equal(pass([event]).all, expected);
    });
  }

  for (const member of ['reasoning_content', 'reasoning', 'refusal']) {
    it(`lets none of it through as ${member}`, () => {
      const { all } = pass([chunk({ choices: [{ index: 0, delta: { [member]: `a ${secret} b` } }] }), DONE]);
      assert.equal(textOf(all, member), `a ${REDACTED} b`);
    });
  }

  it('passes every event at once and byte for byte, also where several together spell it', () => {
    const events = [...Array.from(secret, (letter) => chunk(delta(letter))), ': ping\n\n', DONE];
    const { all, passed } = pass(events);
    assert.equal(all, events.join(''));
    assert.deepEqual(passed, [...events.slice(0, -1), '']);
  });

  it('lets none of it through where one event repeats it 50,000 times, in one text or in as many', () => {
    const many = 50_000;
    assert.equal(
      textOf(pass([chunk(delta(`${secret} `.repeat(many))), DONE]).all),
      `${REDACTED} `.repeat(many),
    );
    const choices = Array.from({ length: many }, () => ({ index: 0, delta: { content: secret } }));
    assert.equal(textOf(pass([chunk({ choices }), DONE]).all), REDACTED.repeat(many));
  });

  it('also hides usage in an event that has it', () => {
    const usage = { prompt_tokens: 1, completion_tokens: 1 };
    const events = [chunk({ ...delta(`a ${secret}`), usage })];
    assert.equal(textOf(pass(events).all), `a ${REDACTED}`);
    assert.doesNotMatch(pass(events).all, /usage/);
    assert.match(pass(events, { showsUsage: true }).all, /"usage":\{"prompt_tokens":1/);
  });
});
