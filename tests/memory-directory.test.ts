import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtemp, readdir, rm, stat, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { childEnvironment } from './child-environment.ts';
import { useMemoryDirectory } from './memory-directory.ts';

const PLENTY = 2 ** 40;

describe('the temporary directory of a run', () => {
  let parent: string;
  const given = process.env['TMPDIR'];
  before(async () => {
    parent = await mkdtemp(join(tmpdir(), 'gatehouse-parent-'));
  });
  beforeEach(() => {
    delete process.env['TMPDIR'];
  });
  afterEach(() => {
    if (given === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = given;
  });
  after(() => rm(parent, { recursive: true }));

  it('is in memory, for this process and those that it starts, until the end of the run', async (test) => {
    const { bavail, bsize } = await statfs(parent);
    if (bavail * bsize < 4 * 1024 ** 3)
      return test.skip('there are not 4 GiB free in the temporary directory');
    {
      await using _ = await useMemoryDirectory({ parent, availableBytes: PLENTY });
      assert.ok(tmpdir().startsWith(`${parent}/gatehouse-`), tmpdir());
      assert.equal((await stat(tmpdir())).mode & 0o7777, 0o1777);
      assert.deepEqual(await readdir(tmpdir()), []);
      const seen = execFileSync(process.execPath, ['-p', 'os.tmpdir()'], {
        env: childEnvironment(),
        encoding: 'utf8',
      });
      assert.equal(seen.trim(), tmpdir());
    }
    assert.equal(process.env['TMPDIR'], undefined);
    assert.deepEqual(await readdir(parent), []);
  });

  for (const [title, options] of [
    ['without such a file system', { parent: '/nowhere', availableBytes: PLENTY }],
    ['with little memory', { availableBytes: 1024 ** 3 }],
  ] as const) {
    it(`is the system's ${title}`, async () => {
      await using _ = await useMemoryDirectory({ parent, ...options });
      assert.equal(process.env['TMPDIR'], undefined);
      assert.deepEqual(await readdir(parent), []);
    });
  }

  it('is the one that is set', async () => {
    process.env['TMPDIR'] = '/chosen';
    await using _ = await useMemoryDirectory({ parent, availableBytes: PLENTY });
    assert.equal(process.env['TMPDIR'], '/chosen');
  });
});
