import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';

const EXECUTABLE = join(import.meta.dirname, '../bin/gatehouse.mjs');

describe('the process', () => {
  let directory: string;
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gatehouse-main-'));
  });
  after(() => rm(directory, { recursive: true, force: true }));

  async function outcome(
    args: readonly string[],
    {
      cwd = directory,
      stdout = 'pipe',
      environment = {},
      leave,
    }: {
      cwd?: string;
      stdout?: 'pipe' | number;
      environment?: Record<string, string>;
      leave?: 'stdout' | 'stderr';
    } = {},
  ) {
    const child = spawn(process.execPath, [EXECUTABLE, ...args], {
      cwd,
      env: { PATH: process.env['PATH'] ?? '', ...environment },
      stdio: ['ignore', stdout, 'pipe'],
    });
    let stderr = '';
    child.stderr?.on('data', (chunk) => {
      stderr += chunk;
    });
    // Before it has come to write anything: reading its own code takes it longer.
    if (leave) child[leave]?.destroy();
    const [code] = await once(child, 'close');
    return { code, stderr };
  }

  it('takes no notice of a reader that has gone away', async () => {
    assert.deepEqual(await outcome(['--help'], { leave: 'stdout' }), { code: 0, stderr: '' });
    assert.equal((await outcome(['bogus'], { leave: 'stderr' })).code, 2);
  });

  it('says in one line that its answer could not be written', async () => {
    const full = openSync('/dev/full', 'w');
    try {
      const { code, stderr } = await outcome(['--help'], { stdout: full });
      assert.equal(code, 1);
      assert.match(stderr, /^gatehouse: the answer could not be written: ENOSPC[^\n]*\n$/);
    } finally {
      closeSync(full);
    }
  });

  it('reads .env, byte order mark or not, and believes the environment before it', async () => {
    const cwd = join(directory, 'with');
    await mkdir(cwd);
    await writeFile(join(cwd, '.env'), '\ufeffDATA_DIR=from-the-file\n');
    assert.match((await outcome(['org', 'list'], { cwd })).stderr, /no database in .*from-the-file/);
    const environment = { DATA_DIR: 'from-outside' };
    assert.match(
      (await outcome(['org', 'list'], { cwd, environment })).stderr,
      /no database in .*from-outside/,
    );
    for (const DATA_DIR of ['', ' ', '\t'])
      assert.match(
        (await outcome(['org', 'list'], { cwd, environment: { DATA_DIR } })).stderr,
        /no database in .*from-the-file/,
      );
  });

  it('refuses a .env that is there and cannot be read', async () => {
    const isDirectory = join(directory, 'a');
    await mkdir(join(isDirectory, '.env'), { recursive: true });
    const isLoop = join(directory, 'b');
    await mkdir(isLoop);
    await symlink('.env', join(isLoop, '.env'));
    for (const [cwd, why] of [
      [isDirectory, 'EISDIR'],
      [isLoop, 'ELOOP'],
    ] as const) {
      const { code, stderr } = await outcome(['org', 'list'], { cwd });
      assert.equal(code, 1);
      assert.match(stderr, new RegExp(`^gatehouse: \\.env [^\\n]*cannot be read: ${why}[^\\n]*\\n$`));
    }
  });
});
