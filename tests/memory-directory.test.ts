import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { childEnvironment } from './child-environment.ts';
import { useMemoryDirectory } from './memory-directory.ts';

const PLENTY = 2 ** 40;
const NO_ROOM = 'there are not 4 GiB free in the temporary directory';

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
  const hasRoom = async () => {
    const { bavail, bsize } = await statfs(parent);
    return bavail * bsize >= 4 * 1024 ** 3;
  };

  it('is in memory, for this process and those that it starts, until the end of the run', async (test) => {
    if (!(await hasRoom())) return test.skip(NO_ROOM);
    {
      await using _ = await useMemoryDirectory({ parent, availableBytes: PLENTY });
      assert.ok(tmpdir().startsWith(`${parent}/gh-`), tmpdir());
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

  it('takes away what a killed run left, and nothing of a run that lives', async (test) => {
    if (!(await hasRoom())) return test.skip(NO_ROOM);
    {
      await using _ = await useMemoryDirectory({ parent, availableBytes: PLENTY });
      const lived = basename(tmpdir());
      delete process.env['TMPDIR'];
      const { pid } = spawnSync(process.execPath, ['-e', '']);
      const left = lived.replace(`-${process.pid.toString(36)}-`, `-${pid.toString(36)}-`);
      const elsewhere = left.replace(/^gh-\w+?-/, 'gh-1-');
      for (const name of [left, elsewhere]) await mkdir(join(parent, name));
      await writeFile(join(parent, left, 'file'), '');
      await using _second = await useMemoryDirectory({ parent, availableBytes: PLENTY });
      assert.deepEqual((await readdir(parent)).sort(), [basename(tmpdir()), elsewhere, lived].sort());
      await rm(join(parent, elsewhere), { recursive: true });
    }
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
