import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { countTokens } from './count-tokens.ts';
import { RememberedCounts } from './remembered-counts.ts';

const LONG = 'The same instructions with every turn. '.repeat(30);

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
    const counts = new RememberedCounts(2);
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

  it('changes no count', async () => {
    const texts = [LONG, 'short', `${LONG}é`, LONG, `${'x '.repeat(600_000)}`, LONG];
    const exact = await countTokens(texts);
    const memory = new RememberedCounts().of('a');
    assert.equal(await countTokens(texts, memory), exact);
    assert.equal(await countTokens(texts, memory), exact);
  });

  it('spares the counting', async () => {
    const memory = new RememberedCounts().of('a');
    const piece = LONG.slice(0, 300);
    memory.keep(piece, 7);
    const short = await countTokens(['short']);
    assert.equal(await countTokens([piece, 'short', piece], memory), 14 + short);
  });
});
