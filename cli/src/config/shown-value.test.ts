import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { shownAddress, shownText } from './shown-value.ts';

describe('an address in an error message', () => {
  for (const [address, shown] of [
    ['postgres://db.example:99999/x', '"postgres://db.example:…"'],
    ['postgres://db.example/x', '"postgres://db.example/x"'],
    ['http://[::1]:99999', '"http://[::1]:…"'],
    ['mysql://u:hunter2@db:1/x', '"mysql://…@db:1/x"'],
    ['postgres://u:hun@ter2@db', '"postgres://…@db"'],
    ['postgres://u:hun/ter2@db', '"postgres://…@db"'],
    ['postgres://hunter2@db?sslpassword=hunter2', '"postgres://…@db?…"'],
    ['postgres://u:hunter2/x', '"postgres://u:…"'],
    ['postgres://u:h?unter2@db', '(not shown)'],
    ['postgres://u:h#unter2@db', '(not shown)'],
    ['postgres:u:hunter2@db', '(not shown)'],
    ['hunter2', '(not shown)'],
  ] as const)
    it(`${address} is ${shown}`, () => assert.equal(shownAddress(address), shown));
});

it('a long value is cut', () => {
  assert.equal(shownText('x'.repeat(1_000_000)).length, 203);
});
