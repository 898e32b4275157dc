import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { createSharedPace, type SharedPace } from './shared-pace.ts';

const EVERY_MS = 10;

describe('a shared pace', () => {
  let pace: SharedPace;
  let begun: string[];
  let timers: (() => void)[];
  beforeEach(() => {
    begun = [];
    timers = [];
    pace = createSharedPace(EVERY_MS, {
      after(ms, then) {
        assert.equal(ms, EVERY_MS);
        timers.push(then);
        return () => undefined;
      },
    });
  });
  const wait = (name: string) => pace.wait(() => begun.push(name));
  const pass = () => timers.shift()?.();

  it('lets one through at once, and each later one after another interval, in their order', () => {
    for (const name of ['a', 'b', 'c']) wait(name);
    assert.deepEqual(begun, ['a']);
    assert.equal(timers.length, 1);
    pass();
    assert.deepEqual(begun, ['a', 'b']);
    pass();
    assert.deepEqual(begun, ['a', 'b', 'c']);
    pass();
    assert.equal(timers.length, 0);
    wait('d');
    assert.deepEqual(begun, ['a', 'b', 'c', 'd']);
  });

  it('gives no interval to one that has left', () => {
    wait('a');
    const leave = wait('b');
    wait('c');
    assert.equal(leave(), true);
    pass();
    assert.deepEqual(begun, ['a', 'c']);
    assert.equal(leave(), false);
  });

  it('goes on where one of them asks again as it begins', () => {
    pace.wait(() => {
      begun.push('first');
      wait('again');
    });
    assert.deepEqual(begun, ['first']);
    pass();
    assert.deepEqual(begun, ['first', 'again']);
    assert.equal(timers.length, 1);
  });
});
