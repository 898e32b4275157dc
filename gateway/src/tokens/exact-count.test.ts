import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { casesOf } from '@gatehouse/concurrency/testing';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { randomFrom } from '../journal/testing/random.ts';
import { countExactly, MAX_COUNTED_CHARACTERS } from './exact-count.ts';
import { readO200kTable } from './o200k-table.ts';
import { rankOf, readRankTable, writeRankTable } from './rank-table.ts';

/** The same count by the package that the table comes from. */
const asPublished = (text: string) => countTokens(text, { disallowedSpecial: new Set() });

describe('countExactly', () => {
  for (const [text, tokens] of [
    ['', 0],
    ['hello', 1],
    ['hello world', 2],
    ['antidisestablishmentarianism', 6],
    ['Привет, мир', 4],
    ['\r\n\r\n  x', 3],
    // A mark of the order of bytes is a token of its own, and so is not lost before another.
    ['\ufeff', 1],
    ['\ufeffabc', 2],
    ['\ud83d', 1],
    ['<|endoftext|>', 7],
  ] as const) {
    it(`counts ${tokens} in ${JSON.stringify(text)}`, () => assert.equal(countExactly(text), tokens));
  }

  const { seed, count } = casesOf(11, 2_000);
  it(`counts ${count} random texts of seed ${seed} as the package does`, () => {
    const next = randomFrom(seed);
    const random: Random = (below) => Math.floor(next() * below);
    for (let number = 0; number < count; number += 1) {
      const kinds = Array.from({ length: 1 + random(3) }, () => KINDS[random(KINDS.length)] ?? KINDS[0]);
      let text = '';
      for (let length = random(120); text.length < length; ) text += kinds[random(kinds.length)]?.(random);
      assert.equal(countExactly(text), asPublished(text), JSON.stringify(text));
    }
  });

  it('counts the longest text, of any kind, and no longer one', () => {
    for (const character of ['a', 'é', '漢', '\ufffd', '\ud83d', ' ', '!', '\u0301']) {
      const text = character.repeat(MAX_COUNTED_CHARACTERS);
      assert.equal(countExactly(text), asPublished(text), JSON.stringify(character));
      assert.throws(() => countExactly(`${text}x`), RangeError);
    }
    const pairs = '😀'.repeat(MAX_COUNTED_CHARACTERS / 2);
    assert.equal(countExactly(pairs), asPublished(pairs));
  });
});

type Random = (below: number) => number;

const character = (from: number, count: number) => (random: Random) =>
  String.fromCodePoint(from + random(count));
const KINDS = [
  character(0x61, 26),
  character(0x20, 0x5f),
  character(0x30, 10),
  character(0xc0, 0x500),
  character(0x4e00, 20_000),
  character(0xac00, 11_000),
  character(0x1f300, 700),
  character(0xd800, 0x800),
  () => ' the ',
  () => "don't ",
  () => '\n  ',
  () => 'requestLog',
];

describe('rank table', () => {
  it('finds each token of o200k_base by its bytes', () => {
    const table = readRankTable(readO200kTable());
    const ranks = table.starts.length - 1;
    assert.equal(ranks, 199_998);
    for (let rank = 0; rank < ranks; rank += 1) {
      const [start = 0, end = 0] = table.starts.subarray(rank, rank + 2);
      assert.equal(rankOf(table, table.bytes, start, end), rank);
    }
  });

  it('holds text, bytes and unused ranks, and finds nothing else', () => {
    const table = readRankTable(writeRankTable(['a', [0xff, 0xfe], undefined, 'ab']));
    const find = (...bytes: number[]) => rankOf(table, Uint8Array.from([0, ...bytes]), 1, 1 + bytes.length);
    assert.deepEqual([find(0x61), find(0xff, 0xfe), find(0x61, 0x62)], [0, 1, 3]);
    assert.deepEqual([find(), find(0xff), find(0x62), find(0x61, 0x62, 0x63)], [-1, -1, -1, -1]);
  });
});
