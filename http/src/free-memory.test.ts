import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { freeMemory } from './free-memory.ts';

describe('freeMemory', () => {
  it('frees memory that holds nothing else', () => {
    const bytes = Buffer.from(new ArrayBuffer(100));
    freeMemory(bytes);
    assert.equal(bytes.length, 0);
    // Once more changes nothing.
    freeMemory(bytes);
  });

  it('leaves memory in which other bytes lie', () => {
    const whole = Buffer.from(new Uint8Array(100).fill(1).buffer);
    for (const part of [whole.subarray(0, 99), whole.subarray(1), whole.subarray(50, 50)]) freeMemory(part);
    assert.deepEqual([whole.length, whole[99]], [100, 1]);
  });

  it('leaves memory that another thread shares', () => {
    const shared = new Uint8Array(new SharedArrayBuffer(10));
    freeMemory(shared);
    assert.equal(shared.length, 10);
  });
});
