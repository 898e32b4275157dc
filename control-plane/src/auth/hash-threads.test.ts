import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { openHashThreads } from './hash-threads.ts';

describe('the threads that hash', () => {
  let directory: string;
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gatehouse-hash-'));
  });
  after(() => rm(directory, { recursive: true }));

  const task = { password: 'any' };

  it('reject while their files are missing or broken, and hash once they are there', async () => {
    const file = join(directory, 'worker.mjs');
    const threads = openHashThreads(pathToFileURL(file));
    const many = () => Promise.allSettled(Array.from({ length: 8 }, () => threads.run<string>(task)));
    for (const [content, reason] of [
      [undefined, /Cannot find module/],
      ['throw new Error("half of a file")', /half of a file/],
      ['import "./none.mjs"', /Cannot find module/],
    ] as const) {
      if (content !== undefined) await writeFile(file, content);
      for (const result of await many()) {
        assert.equal(result.status, 'rejected');
        assert.match(String(result.reason), reason);
      }
    }
    await writeFile(file, 'export const run = ({ password }) => "hash of " + password');
    for (const result of await many())
      assert.deepEqual(result, { status: 'fulfilled', value: 'hash of any' });
  });

  it('outlive a thread that fails after its work', async () => {
    const file = join(directory, 'late.mjs');
    await writeFile(
      file,
      'export const run = () => { setImmediate(() => { throw new Error("too late"); }); return "hash"; }',
    );
    const threads = openHashThreads(pathToFileURL(file));
    for (let turn = 0; turn < 8; turn += 1)
      await threads.run(task).then(
        (hash) => assert.equal(hash, 'hash'),
        (error) => assert.match(String(error), /too late/),
      );
  });
});
