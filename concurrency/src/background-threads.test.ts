import assert from 'node:assert/strict';
import { it } from 'node:test';
import { backgroundThreads } from './background-threads.ts';

it('background threads leave one core free, and are never more than two', () => {
  assert.deepEqual([1, 2, 3, 4, 64].map(backgroundThreads), [1, 1, 2, 2, 2]);
});
