import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { onceFor } from './count-time.ts';
import { countFor, countTokens } from './count-tokens.ts';
import { type CountMemory, RememberedCounts } from './remembered-counts.ts';

const LONG = 'The same instructions with every turn. '.repeat(30);

async function countWith(memory: CountMemory, texts: readonly string[]): Promise<number> {
  const plenty = onceFor(60_000, () => performance.now());
  return (await countFor(plenty, texts, memory)).tokens;
}

describe('RememberedCounts', () => {
  it('knows a long text again, of the same organisation only', () => {
    const counts = new RememberedCounts();
    counts.of('a').keep(LONG, 7);
    assert.equal(counts.of('a').find(LONG), 7);
    assert.equal(counts.of('a').find(`${LONG}.`), undefined);
    assert.equal(counts.of('b').find(LONG), undefined);
  });

  it('does not keep short texts', () => {
    const counts = new RememberedCounts();
    counts.of('a').keep('short', 1);
    assert.equal(counts.size, 0);
  });

  it('forgets what was used least recently', () => {
    const counts = new RememberedCounts(4);
    const memory = counts.of('a');
    memory.keep(`1${LONG}`, 1);
    memory.keep(`2${LONG}`, 2);
    assert.equal(memory.find(`1${LONG}`), 1);
    memory.keep(`3${LONG}`, 3);
    assert.deepEqual(
      ['1', '2', '3'].map((start) => memory.find(start + LONG)),
      [1, undefined, 3],
    );
  });

  it('has as many as it may have at most, however many come', () => {
    const counts = new RememberedCounts(100);
    const memory = counts.of('a');
    for (let number = 0; number < 1_000; number += 1) {
      memory.keep(`${number}${LONG}`, number);
      assert.equal(memory.find(`${number}${LONG}`), number);
      assert.ok(counts.size <= 100, `${counts.size}`);
    }
  });

  it('finds a text in the same time however often it was found, and whatever else is remembered', () => {
    const memory = new RememberedCounts().of('a');
    const texts = [`first ${LONG}`, `second ${LONG}`];
    const microsToFind = () => {
      const before = process.threadCpuUsage();
      for (let times = 0; times < 20_000; times += 1) for (const text of texts) memory.find(text);
      const { user, system } = process.threadCpuUsage();
      return user + system - before.user - before.system;
    };
    for (const text of texts) memory.keep(text, 7);
    microsToFind();
    const alone = microsToFind();
    for (let number = 0; number < 70_000; number += 1) memory.keep(`${number}${LONG}`, number);
    for (const text of texts) memory.keep(text, 7);
    const among = microsToFind();
    assert.ok(among < 5 * alone, `${among} and ${alone} microseconds`);
  });

  it('changes no count', async () => {
    const texts = [LONG, 'short', `${LONG}é`, LONG, `${'x '.repeat(600_000)}`, LONG];
    const exact = await countTokens(texts);
    const memory = new RememberedCounts().of('a');
    assert.equal(await countWith(memory, texts), exact);
    assert.equal(await countWith(memory, texts), exact);
  });

  it('spares the counting', async () => {
    const memory = new RememberedCounts().of('a');
    const piece = LONG.slice(0, 300);
    memory.keep(piece, 7);
    const short = await countTokens(['short']);
    assert.equal(await countWith(memory, [piece, 'short', piece]), 14 + short);
  });
});
