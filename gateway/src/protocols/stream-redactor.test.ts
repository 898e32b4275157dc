import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { chunk, DONE, delta } from '../testing/mock-provider.ts';
import { ChatStream } from './openai/chat-stream.ts';
import { REDACTED, redactionOf } from './redaction.ts';

const secret = 'sk-platform-0123456789abcdef';
const redaction = redactionOf(secret);

function pass(events: readonly string[], options: { showsUsage?: boolean } = {}) {
  const stream = new ChatStream({ showsUsage: options.showsUsage ?? false, choices: 1, redaction });
  const passed = events.map((event) => stream.push(Buffer.from(event)).toString());
  return { passed, all: passed.join('') + stream.end().toString(), stream };
}

/** The text that a client puts together. */
function textOf(events: string, member = 'content', choice = 0): string {
  return [...events.matchAll(/^data: (\{.*)$/gm)]
    .flatMap(
      ([, data = '']) => JSON.parse(data).choices as { index: number; delta: Record<string, string> }[],
    )
    .filter(({ index }) => index === choice)
    .map((one) => one.delta[member] ?? '')
    .join('');
}

describe('a stream that repeats the secret of its provider', () => {
  it('lets none of it through but the few letters that could be any key, wherever it is split', () => {
    const text = `Your key is ${secret}, isn't it?`;
    for (let one = 0; one <= text.length; one += 1) {
      for (let two = one; two <= text.length; two += 1) {
        const parts = [text.slice(0, one), text.slice(one, two), text.slice(two)].filter(
          (part) => part !== '',
        );
        const { all } = pass([...parts.map((part) => chunk(delta(part))), DONE]);
        assert.match(
          textOf(all),
          /^Your key is (sk-plat|sk-pla|sk-pl|sk-p|sk-|sk|s)?\[redacted\], isn't it\?$/,
        );
      }
    }
  });

  it('lets none of it through letter by letter', () => {
    const text = `s${secret}${secret}!`;
    const { all } = pass([...Array.from(text, (letter) => chunk(delta(letter))), DONE]);
    assert.equal(textOf(all), `ssk-plat${REDACTED}sk-plat${REDACTED}!`);
  });

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
      const say = (text: string) => chunk({ choices: [{ index: 0, delta: { [member]: text } }] });
      const { all } = pass([say(`a ${secret.slice(0, 12)}`), say(`${secret.slice(12)} b`), DONE]);
      assert.equal(textOf(all, member), `a ${REDACTED} b`);
    });
  }

  it('keeps two choices apart, and what comes between in its order', () => {
    const say = (index: number, content: string) => chunk({ choices: [{ index, delta: { content } }] });
    const ping = ': ping\n\n';
    const { all, passed } = pass([
      say(0, secret.slice(0, 12)),
      ping,
      say(1, 'other'),
      say(0, secret.slice(12)),
      say(1, ' words'),
      DONE,
    ]);
    assert.deepEqual(
      passed.map((events) => events !== ''),
      [false, false, false, true, true, false],
    );
    assert.equal(textOf(all), REDACTED);
    assert.equal(textOf(all, 'content', 1), 'other words');
    assert.ok(all.includes(ping + say(1, 'other')));
  });

  it('passes byte for byte what only begins like it, at once where that is little', () => {
    const events = [
      'data: { "choices":[{"index":0, "delta":{"content":"sk-plat"}}] ,"x":1.0}\n\n',
      chunk(delta('form-01')),
      chunk(delta('23 is short')),
      DONE,
    ];
    const { all, passed } = pass(events);
    assert.equal(all, events.join(''));
    assert.deepEqual(passed.slice(0, 3), [events[0], '', `${events[1]}${events[2]}`]);
  });

  it('shows nothing of one that is cut off in its second half, and all of one in its first', () => {
    const cut = (length: number) => textOf(pass([chunk(delta(`a ${secret.slice(0, length)}`))]).all);
    assert.equal(cut(secret.length - 1), `a ${REDACTED}`);
    assert.equal(cut(secret.length / 2), `a ${secret.slice(0, secret.length / 2)}`);
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

  it('also hides usage in rewritten events', () => {
    const usage = { prompt_tokens: 1, completion_tokens: 1 };
    const events = [secret.slice(0, 12), secret.slice(12)].map((part) => chunk({ ...delta(part), usage }));
    assert.doesNotMatch(pass(events).all, /usage/);
    assert.match(pass(events, { showsUsage: true }).all, /"usage":\{"prompt_tokens":1/);
  });

  it('holds no more than a little, whatever comes between', () => {
    const { stream } = pass([chunk(delta(secret.slice(0, 20)))]);
    const filler = Buffer.from(chunk({ choices: [], filler: 'x'.repeat(1_000) }));
    const other = new ChatStream({ showsUsage: false, choices: 1, redaction });
    let passed = other.push(Buffer.from(chunk(delta(secret.slice(0, 20))))).toString();
    for (let sent = 0; sent < 1_000; sent += 1) passed += other.push(filler).toString();
    assert.ok(other.keptBytes < 400_000, String(other.keptBytes));
    assert.equal(textOf(passed), REDACTED);
    assert.ok(stream.keptBytes < 1_000);
  });
});
