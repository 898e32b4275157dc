import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ByteBlocks, joinBlocks } from './byte-blocks.ts';

describe('ByteBlocks', () => {
  for (const announced of [undefined, 200_000]) {
    for (const bytes of [1, 4_096, 4_097, 65_536, 65_537, 200_000]) {
      it(`gives back ${bytes} bytes, of ${announced ?? 'an unknown number'}, as they came in pieces`, () => {
        const blocks = new ByteBlocks(announced, 200_000);
        const sent = Buffer.from(Array.from({ length: bytes }, (_, at) => at % 251));
        for (let at = 0; at < bytes; at += 1_000) blocks.append(sent.subarray(at, at + 1_000));
        assert.equal(blocks.length, bytes);
        assert.ok(sent.equals(joinBlocks(blocks.take())));
      });
    }
  }

  it('frees the memory of a body that is given up', () => {
    const blocks = new ByteBlocks(undefined, 2 ** 24);
    blocks.append(Buffer.alloc(2 ** 24));
    const before = process.memoryUsage().arrayBuffers;
    blocks.free();
    assert.ok(before - process.memoryUsage().arrayBuffers >= 2 ** 24);
    assert.equal(blocks.length, 0);
  });

  it('keeps the memory of a body that came whole, unless other bytes lie there too', () => {
    const own = Buffer.from(new ArrayBuffer(100));
    assert.equal(ByteBlocks.of(own).take()[0]?.buffer, own.buffer);
    const shared = Buffer.from('neighbour body').subarray(10);
    const [copy] = ByteBlocks.of(shared).take();
    assert.equal(copy?.buffer.byteLength, 4);
    assert.equal(joinBlocks(ByteBlocks.of(shared).take()).toString(), 'body');
  });
});
