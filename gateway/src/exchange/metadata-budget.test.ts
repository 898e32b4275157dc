import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MetadataBudget } from './metadata-budget.ts';

const headers = (...labels: readonly (readonly [name: string, value: string])[]) =>
  labels.flatMap(([name, value]) => [`x-svc-meta-${name}`, value]);
const LARGE = headers(...Array.from({ length: 8 }, (_, n) => [`n${n}`, 'x'.repeat(1_000)] as const));
const SMALL = headers(['team', 'search'], ['run', '7']);

/** The metadata that is stored of a request with these headers. */
function store(budget: MetadataBudget, owner: string, rawHeaders: readonly string[]) {
  return budget.store(owner, budget.read(rawHeaders));
}

describe('the bytes of metadata that are stored', () => {
  const start = () => {
    const clock = { ms: 0 };
    return { clock, budget: new MetadataBudget(new Map(), () => clock.ms) };
  };

  it('are 4 KiB of a request at most, and the value at the end is cut', () => {
    const { budget } = start();
    const { labels, cut, bytes } = store(budget, 'org', LARGE);
    assert.equal(bytes, 4_096);
    assert.deepEqual(
      [...labels].map(([name, { length }]) => [name, length]),
      [...['n0', 'n1', 'n2', 'n3'].map((name) => [name, 1_000]), ['n4', 4_096 - 4 * 1_002 - 2]],
    );
    assert.deepEqual(cut, ['n4', 'n5', 'n6', 'n7']);
    assert.deepEqual(store(budget, 'org', SMALL).cut, []);
    assert.deepEqual(store(budget, 'org', []), { labels: new Map(), cut: [], bytes: 0 });
  });

  it('are 4 MiB of an organisation in a minute, and then 256 bytes of each request', () => {
    const { budget, clock } = start();
    let bytes = 0;
    for (let request = 0; request < 1_024; request += 1) bytes += store(budget, 'org', LARGE).bytes;
    assert.equal(bytes, 4 * 1024 * 1024);
    assert.equal(store(budget, 'org', LARGE).bytes, 256);
    // Ordinary labels stay, however many requests carry them.
    for (let request = 0; request < 1_000; request += 1)
      assert.deepEqual(store(budget, 'org', SMALL).cut, []);
    assert.equal(store(budget, 'another', LARGE).bytes, 4_096);
    clock.ms = 59_999;
    assert.equal(store(budget, 'org', LARGE).bytes, 256);
    clock.ms = 60_000;
    assert.equal(store(budget, 'org', LARGE).bytes, 4_096);
  });

  it('are cut between characters, and a name without room for its value is left out', () => {
    const { budget } = start();
    const full = headers(...Array.from({ length: 4 }, (_, n) => [`n${n}`, 'x'.repeat(1_018)] as const));
    // Sixteen bytes are left.
    const { labels, cut, bytes } = store(budget, 'org', [
      ...full,
      ...headers(['accents', 'é'.repeat(9)], ['late', 'x']),
    ]);
    assert.deepEqual([labels.get('accents'), labels.has('late'), bytes], ['é'.repeat(4), false, 4_095]);
    assert.deepEqual(cut, ['accents', 'late']);
  });
});
