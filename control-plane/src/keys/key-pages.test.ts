import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KeyPages } from './key-pages.ts';

type Row = Parameters<KeyPages['add']>[0][number];

function row(number: number, given: Partial<Row> = {}): Row {
  const hex = number.toString(16).padStart(12, '0');
  return {
    id: `01980000-0000-7000-8000-${hex}`,
    name: `key ${number}`,
    project_id: '01980000-0000-7000-8000-000000000000',
    key_prefix: `sk_svc_${hex.slice(-8)}`,
    rate_limit_rpm: 60,
    expires_at: null,
    credit_limit_cents: null,
    allowed_models: null,
    environment: 'production',
    created_at: '2026-11-20T10:15:30.123456+00:00',
    last_used_at: null,
    ...given,
  };
}

const rows = (count: number, of: (number: number) => Row = row) =>
  Array.from({ length: count }, (_, number) => of(number));

async function textOf(pages: KeyPages): Promise<string> {
  return Buffer.concat(await Array.fromAsync(pages.pieces())).toString();
}

describe('the pages of a list of keys', () => {
  it('are the list, in the order in which they were added', async () => {
    const all = rows(7, (number) =>
      row(number, {
        name: number % 2 === 0 ? `"\u00e9\u{1F600}\\ ${number}` : 'k',
        allowed_models: number % 3 === 0 ? null : [`model-${number % 2}`, 'demo/echo'],
        credit_limit_cents: Number.MAX_SAFE_INTEGER - number,
      }),
    );
    const pages = new KeyPages();
    for (const page of [all.slice(0, 3), all.slice(3, 6), all.slice(6), []]) pages.add(page);
    assert.equal(await textOf(pages), JSON.stringify({ keys: all }));
  });

  it('are a list without keys where nothing was added', async () => {
    assert.equal(await textOf(new KeyPages()), '{"keys":[]}');
  });

  it('take no more memory for the ids of routes than their numbers, and none of what was read', async () => {
    const routeIds = Array.from({ length: 256 }, (_, number) => `${number}/${'m'.repeat(195)}`);
    const pages = new KeyPages();
    const page = rows(100, (number) => row(number, { allowed_models: routeIds }));
    for (let added = 0; added < 5; added += 1) pages.add(page);
    // The ids alone are 25 MB as text.
    assert.ok(pages.keptBytes() < 700_000, `${pages.keptBytes()} bytes`);
    const left: number[] = [];
    for await (const _ of pages.pieces()) left.push(pages.keptBytes());
    const [, afterTwo = 0] = left;
    assert.deepEqual(
      left,
      [4, 3, 2, 1, 0, 0].map((still) => (still * afterTwo) / 3),
    );
  });
});
