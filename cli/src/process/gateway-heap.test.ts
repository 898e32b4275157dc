import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { defaultGatewayHeapMb, gatewayHeapOptions } from './gateway-heap.ts';

const GIB = 1_024 ** 3;

describe('the heap of a gateway', () => {
  it('is 512 MB, and a quarter of a smaller machine or container', () => {
    const heaps = [64, 4, 2, 1, 0.5, 0.1].map((gib) => defaultGatewayHeapMb(gib * GIB));
    assert.deepEqual(heaps, [512, 512, 512, 256, 128, 64]);
  });

  it('has a young generation that is an eighth of it, and 64 MB at most', () => {
    const youngest = [512, 4_096, 128, 64].map((heapMb) => gatewayHeapOptions(heapMb)[1]);
    assert.deepEqual(
      youngest,
      [64, 64, 16, 8].map((mb) => `--max-semi-space-size=${mb}`),
    );
  });
});
