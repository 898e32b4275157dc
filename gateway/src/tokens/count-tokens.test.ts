import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { countTokens as exactly } from 'gpt-tokenizer/encoding/o200k_base';
import { onceFor } from './count-time.ts';
import { countFor, countTokens, segmentEnd } from './count-tokens.ts';
import { ideographs } from './expensive-text.fixture.ts';
import type { CountMemory } from './remembered-counts.ts';

const PROSE =
  'The gatekeeper counts what passes, twice if need be; “numbers”, she says, don’t lie — people do. 42,000 times! ';

/** Time for a piece. */
const once = () => onceFor(Number.MIN_VALUE, () => performance.now());

describe('countTokens', () => {
  for (const [title, text] of [
    ['nothing', ''],
    ['a word', 'hello'],
    ['prose', PROSE],
    ['long prose', PROSE.repeat(500)],
    ['lines of code', 'if (a < b) {\n    return f(a, b);\n}\n'.repeat(200)],
    ['text around a blank run', `start${' '.repeat(200)}end`],
  ] as const) {
    it(`counts as the tokenizer does: ${title}`, async () => {
      assert.equal(await countTokens([text]), exactly(text));
    });
  }

  it('adds texts up', async () => {
    assert.equal(await countTokens(['one two', 'three']), exactly('one two') + exactly('three'));
  });

  it('takes text that spells a special token for text', async () => {
    assert.ok((await countTokens(['<|endoftext|>'])) > 1);
  });

  for (const [title, unit] of [
    ['one letter', 'a'],
    ['ideographs', '漢字電腦世界'],
    ['emoji', '😀'],
    ['lone surrogates', '\ud83d'],
    ['blanks', ' '],
  ] as const) {
    it(`counts a run without a break close above the exact number: ${title}`, async () => {
      const text = unit.repeat(4_096 / unit.length);
      const tokens = await countTokens([text]);
      const exact = exactly(text);
      assert.ok(tokens >= exact && tokens <= exact + 2 * (4_096 / 256), `${tokens} for ${exact}`);
    });
  }

  it('lets others run while it counts, and bounds what lies beyond a million characters by its bytes', async () => {
    let turns = 0;
    const count = countTokens([`${ideographs(100_000)}${'word '.repeat(180_000)}${'é'.repeat(1_000_000)}`]);
    let isCounting = true;
    const take = () => {
      turns += 1;
      if (isCounting) setImmediate(take);
    };
    setImmediate(take);
    const tokens = await count;
    isCounting = false;
    // It takes a tenth of a second at least, four milliseconds at a time.
    assert.ok(turns > 3, `${turns} turns`);
    assert.ok(tokens >= 2_100_000 && tokens < 2_400_000, `${tokens} tokens`);
  });

  it('counts the same in any number of steps', async () => {
    const texts = [ideographs(20_000), 'a\ud83d', '', PROSE.repeat(300), '\ude00b', ...PROSE.split(' ')];
    const whole = await countTokens(texts);
    let [tokens, steps] = [0, 0];
    for (let rest: readonly string[] = texts; rest.length > 0; steps += 1) {
      const step = countFor(once(), rest);
      tokens += step.tokens;
      rest = step.rest;
    }
    assert.equal(tokens, whole);
    assert.ok(steps > 30, `${steps} steps`);
  });

  it('counts short texts, and nothing else, where there is no time', async () => {
    const none = onceFor(0, () => performance.now());
    const long = ideographs(2_000);
    const { tokens, rest } = countFor(none, ['one two three', long, 'four']);
    assert.equal(tokens, 3);
    assert.deepEqual(rest, [long, 'four']);
    const many = Array.from({ length: 10_000 }, () => 'a');
    assert.equal(countFor(none, many).rest.length, 10_000 - 512);
  });

  it('says how long it took before anything else runs', async () => {
    let now = 0;
    const used: number[] = [];
    const time = { now: () => now++, available: () => 5, use: (took: number) => used.push(took) };
    // Loaded by now, so it counts before it returns.
    const counted = countFor(time, [ideographs(20_000)]);
    assert.equal(used.length, 1);
    assert.ok((used[0] ?? 0) > 5);
    assert.ok((await counted).rest.length > 0);
  });

  it('remembers what is counted in steps, and finds all of it, also where there is no time', async () => {
    const counts = new Map<string, number>();
    const memory: CountMemory = {
      find: (piece) => counts.get(piece),
      keep: (piece, tokens) => {
        assert.ok(!counts.has(piece));
        counts.set(piece, tokens);
      },
    };
    const text = ideographs(40_000);
    for (let rest: readonly string[] = [text]; rest.length > 0; ) ({ rest } = countFor(once(), rest, memory));
    assert.equal([...counts.keys()].join(''), text);
    const none = onceFor(0, () => performance.now());
    const again = { tokens: await countTokens([text]), rest: [] };
    assert.deepEqual(countFor(none, [text], memory), again);
    // What is not known is left in pieces, each as long as it is unknown.
    const [first = '', second = '', third = ''] = counts.keys();
    counts.delete(second);
    counts.delete(third);
    assert.deepEqual(countFor(none, [text], memory).rest, [second + third]);
    counts.delete(first);
    assert.deepEqual(countFor(none, ['x'.repeat(512), text], memory).rest, [first + second + third]);
  });

  it('never cuts a character in two', () => {
    const text = `x${'😀'.repeat(600)}`;
    for (let start = 0; start < text.length; ) {
      const end = segmentEnd(text, start);
      assert.ok(end > start);
      assert.ok(text.slice(start, end).isWellFormed());
      start = end;
    }
  });
});
