import assert from 'node:assert/strict';
import { after, before } from 'node:test';

/** Starts it before the tests of a `describe` block and stops it after them. It has members only in between. */
export function duringTests<T extends AsyncDisposable>(start: () => Promise<T>): T {
  let started: T | undefined;
  before(async () => {
    started = await start();
  });
  after(() => started?.[Symbol.asyncDispose]());
  return new Proxy({} as T, { get: (_, name) => Reflect.get(started ?? assert.fail('not started'), name) });
}
