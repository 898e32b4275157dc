import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { countTokens as exactly } from 'gpt-tokenizer/encoding/o200k_base';
import { countFor, countTokens, segmentEnd } from './count-tokens.ts';
import { ideographs } from './dear-text.fixture.ts';
import type { CountMemory } from './remembered-counts.ts';
import { countFurther, uncounted } from './uncounted-texts.ts';

const PROSE =
  'The gatekeeper counts what passes, twice if need be; “numbers”, she says, don’t lie — people do. 42,000 times! ';

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
    assert.ok(turns > 20, `${turns} turns`);
    assert.ok(tokens >= 2_100_000 && tokens < 2_400_000, `${tokens} tokens`);
  });

  it('counts the same in any number of steps, and in bytes what would be the same as text', async () => {
    const texts = [ideographs(20_000), 'a\ud83d', '', PROSE.repeat(300), '\ude00b'];
    const whole = await countTokens(texts);
    const { tokens, rest } = await countFor(0, texts);
    assert.equal(tokens, 0);
    const left = uncounted(rest);
    assert.ok(left);
    let [sum, counted, steps] = [tokens, 0, 0];
    for (; counted < left.ends.length; steps += 1) {
      const further = await countFurther(0, left.bytes, { ends: left.ends, counted });
      sum += further.tokens;
      counted = further.counted;
    }
    assert.deepEqual([sum, steps], [whole, rest.length]);
  });

  it('remembers what is counted in steps, and finds all of it', async () => {
    const counts = new Map<string, number>();
    const memory: CountMemory = {
      find: (piece) => counts.get(piece),
      keep: (piece, tokens) => {
        assert.ok(!counts.has(piece));
        counts.set(piece, tokens);
      },
    };
    const text = ideographs(40_000);
    let steps = 0;
    for (let rest: readonly string[] = [text]; rest.length > 0; steps += 1)
      ({ rest } = await countFor(Number.MIN_VALUE, rest, memory));
    assert.ok(steps > 1);
    assert.equal([...counts.keys()].join(''), text);
    assert.equal(await countTokens([text], memory), await countTokens([text]));
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
