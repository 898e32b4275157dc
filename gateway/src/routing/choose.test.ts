import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { describe, it } from 'node:test';
import { type Choice, inOrder, type SessionHash } from './choose.ts';

const SESSIONS = 20_000;

function sessionHash(name: string): SessionHash {
  const bytes = hash('sha256', name, 'buffer');
  return [bytes.readUInt32LE(0), bytes.readUInt32LE(4)];
}

function choice(name: string, weight = 1, priority = 1): Choice {
  return { name, weight, priority };
}

const noChance = () => assert.fail('chance was asked');
const bySession = (candidates: readonly Choice[], session: string) =>
  inOrder(candidates, { session: sessionHash(session), random: noChance }).map(({ name }) => name);

/** How often each comes first. */
function firsts(candidates: readonly Choice[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (let n = 0; n < SESSIONS; n += 1) {
    const [first = ''] = bySession(candidates, `session ${n}`);
    counts.set(first, (counts.get(first) ?? 0) + 1);
  }
  return counts;
}

function assertNear(count: number | undefined, share: number): void {
  const expected = SESSIONS * share;
  // Five standard deviations.
  const tolerance = 5 * Math.sqrt(SESSIONS * share * (1 - share));
  assert.ok(Math.abs((count ?? 0) - expected) < tolerance, `${count} instead of about ${expected}`);
}

describe('the order of candidates', () => {
  it('is by priority first', () => {
    const candidates = [choice('c', 1, 3), choice('a', 1, 1), choice('b', 1_000, 2)];
    for (let n = 0; n < 100; n += 1) assert.deepEqual(bySession(candidates, `${n}`), ['a', 'b', 'c']);
  });

  it('is the same for the same session, whatever the order they are given in', () => {
    const candidates = ['a', 'b', 'c', 'd', 'e'].map((name) => choice(name));
    for (let n = 0; n < 100; n += 1)
      assert.deepEqual(bySession(candidates.toReversed(), `${n}`), bySession(candidates, `${n}`));
  });

  it('puts each first as often as its weight says', () => {
    const counts = firsts([choice('a', 1), choice('b', 2), choice('c', 7)]);
    assertNear(counts.get('a'), 0.1);
    assertNear(counts.get('b'), 0.2);
    assertNear(counts.get('c'), 0.7);
  });

  it('spreads sessions evenly over accounts that differ in one letter', () => {
    const names = Array.from({ length: 8 }, (_, n) => `openai gpt-5 key-${n}`);
    const counts = firsts(names.map((name) => choice(name)));
    for (const name of names) assertNear(counts.get(name), 1 / 8);
  });

  it('moves only the sessions of the candidate that is gone, each to its second', () => {
    const all = ['a', 'b', 'c', 'd'].map((name) => choice(name, 3));
    const without = all.filter(({ name }) => name !== 'b');
    for (let n = 0; n < 1_000; n += 1) {
      const before = bySession(all, `${n}`);
      assert.deepEqual(
        bySession(without, `${n}`),
        before.filter((name) => name !== 'b'),
      );
    }
  });

  it('is by chance, and by weight, without a session', () => {
    const chances = [0.5, 0.999, 0.25];
    const given = [choice('a'), choice('b'), choice('c')];
    const order = inOrder(given, { session: undefined, random: () => chances.shift() ?? assert.fail() });
    assert.deepEqual(
      order.map(({ name }) => name),
      ['c', 'a', 'b'],
    );
  });

  it('takes the extremes of chance', () => {
    for (const chance of [0, 1 - 2 ** -53]) {
      const order = inOrder([choice('a', 1_000), choice('b')], { session: undefined, random: () => chance });
      assert.equal(order.length, 2);
    }
  });

  it('asks neither session nor chance for one candidate', () => {
    const one = choice('a');
    assert.deepEqual(inOrder([one], { session: undefined, random: noChance }), [one]);
  });
});
