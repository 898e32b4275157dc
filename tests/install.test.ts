import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  chmod,
  copyFile,
  mkdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  unlink,
  writeFile,
} from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { Clone } from './installation.fixture.ts';

const root = join(import.meta.dirname, '..');
// Root may write everywhere, unless it gives that up. Another user could not enter a closed folder.
const asPlainUser = process.getuid?.() === 0 ? ['setpriv', '--inh-caps=-all', '--bounding-set=-all'] : [];
const COMMON =
  '--include=optional --install-strategy=hoisted --bin-links --package-lock --ignore-scripts --no-audit --no-fund --loglevel=error';
const INSTALLED = { status: 0, calls: [`ci --omit=dev ${COMMON}`] };
const INSTALLED_ALL = { status: 0, calls: [`ci --include=dev ${COMMON}`] };
const ADDED = { status: 0, calls: [`install --no-save --include=dev ${COMMON}`] };
const NOTHING = { status: 0, calls: [] };

describe('the set-up', () => {
  let clone: Clone;
  before(async () => {
    clone = await Clone.open();
  });
  beforeEach(() => clone.clear());
  after(() => clone.close());

  /** Status and calls of npm of one run; what it printed is in `printed`. */
  let printed = '';
  const install = async (args: readonly string[] = [], more: Record<string, string> = {}) => {
    const { status, calls, err } = await clone.install(args, more);
    printed = err;
    return { status, calls };
  };
  const exists = (path: string) =>
    stat(clone.at(path)).then(
      () => true,
      () => false,
    );

  it('installs the production packages without install scripts, and does nothing the second time', async () => {
    assert.deepEqual(await install(), INSTALLED);
    assert.deepEqual(await install(), NOTHING);
    assert.equal(await exists('.previous'), false);
  });

  it('a plain npm install runs no install scripts either, in any folder that has a lockfile', async () => {
    for (const folder of ['.', 'tests/clients', 'bench/gateway/reference'])
      assert.match(await readFile(join(root, folder, '.npmrc'), 'utf8'), /^ignore-scripts=true$/m);
  });

  it('adds development dependencies without removing anything, and keeps them', async () => {
    await install();
    await writeFile(clone.at('node_modules/in-use'), '');
    assert.deepEqual(await install(['--with-dev']), ADDED);
    await readFile(clone.at('node_modules/in-use'));
    assert.deepEqual(await install(['--with-dev']), NOTHING);
    assert.deepEqual(await install(), NOTHING);
  });

  it('installs everything at once for the tests of a fresh clone', async () => {
    assert.deepEqual(await install(['--with-dev']), INSTALLED_ALL);
    assert.deepEqual(await install(), NOTHING);
  });

  it('reinstalls after a changed lockfile, with the same extent', async () => {
    await install();
    await clone.lock({ one: { version: '1.1.0' }, tool: { version: '3.0.0', dev: true } });
    assert.deepEqual(await install(), INSTALLED);
    assert.equal(await exists('node_modules/two'), false);
    await install(['--with-dev']);
    await clone.lock();
    assert.deepEqual(await install(), INSTALLED_ALL);
  });

  it('keeps the packages where only the version of a workspace changed', async () => {
    await install();
    await clone.lock(undefined, '1.1.0');
    assert.deepEqual(await install(), NOTHING);
  });

  it('recognises an installation of an earlier version', async () => {
    await install(['--with-dev']);
    // By the hash of the file; this is the one of the usual packages.
    const hash = createHash('sha256')
      .update(await readFile(clone.at('package-lock.json')))
      .update(`${process.platform}-${process.arch}`)
      .digest('hex');
    for (const stamp of [hash, `${hash} all`]) {
      await writeFile(clone.at('node_modules/.gatehouse-install'), stamp);
      assert.deepEqual(await install(['--with-dev']), NOTHING);
    }
  });

  const BROKEN: readonly (readonly [string, () => Promise<unknown>])[] = [
    ['is missing', () => rm(clone.at('node_modules/two'), { recursive: true })],
    ['was written in part', () => writeFile(clone.at('node_modules/two/package.json'), '{"version":')],
    [
      'has another version',
      () => writeFile(clone.at('node_modules/two/package.json'), '{"version":"2.0.1"}'),
    ],
  ];
  for (const [what, breakIt] of BROKEN)
    it(`installs again where a package ${what}, whatever the stamp says`, async () => {
      await install();
      await breakIt();
      assert.deepEqual(await install(), INSTALLED);
      assert.deepEqual(await install(), NOTHING);
    });

  it('writes no stamp for an installation that lacks a package, and says which', async () => {
    await rm(clone.at('packages/two'), { recursive: true });
    assert.deepEqual(await install(), { status: 1, calls: INSTALLED.calls });
    assert.match(printed, /^gatehouse: the installation is not complete \(two is missing\)\. /);
    await clone.lock();
    assert.deepEqual(await install(), INSTALLED);
  });

  it('asks for its own Node, and for one that runs', async () => {
    const name = `node-linux-${process.arch}`;
    const lock = async (program: string) => {
      await clone.lock({ one: { version: '1.0.0' }, [name]: { version: '24.0.0' } });
      await writeFile(clone.at('packages', name, 'node'), program, { mode: 0o755 });
    };
    await lock('#!/bin/sh\nexit 1\n');
    assert.equal((await install()).status, 1);
    assert.match(printed, /the installed Node 24 cannot run here\. On Linux it needs glibc/);
    await lock('#!/bin/sh\nexit 0\n');
    assert.deepEqual(await install(), INSTALLED);
    assert.deepEqual(await install(), NOTHING);
    await unlink(clone.at('node_modules/.bin/node'));
    assert.deepEqual(await install(), INSTALLED);
  });

  it('retries after a failure, and keeps what was installed before', async () => {
    assert.equal((await install([], { NPM_FAILS: '7' })).status, 1);
    assert.match(printed, /^gatehouse: the installation failed \(npm ci ended with status 7\)\. /);
    assert.deepEqual(await install(), INSTALLED);
    assert.equal((await install(['--with-dev'], { NPM_FAILS: '7' })).status, 1);
    assert.deepEqual(await install(['--with-dev']), ADDED);
    await clone.lock({ one: { version: '1.1.0' } });
    await rm(clone.at('packages/one'), { recursive: true });
    assert.equal((await install()).status, 1);
    assert.match(printed, / The packages from before are back\.\n$/);
    assert.equal(await exists('node_modules/two/package.json'), true);
    await clone.lock();
    assert.deepEqual(await install(['--with-dev']), NOTHING);
  });

  it('adds a development dependency again that an earlier attempt left half done', async () => {
    await install();
    // The package.json is there, and the rest of the package is not.
    await mkdir(clone.at('node_modules/tool'));
    await copyFile(clone.at('packages/tool/package.json'), clone.at('node_modules/tool/package.json'));
    await writeFile(clone.at('node_modules/tool/left'), '');
    assert.deepEqual(await install(['--with-dev']), ADDED);
    assert.equal(await exists('node_modules/tool/left'), false);
    assert.equal(await exists('node_modules/tool/dev'), true);
  });

  it('says so in one line where the user may not write, and where the lockfile cannot be read', async () => {
    await chmod(clone.directory, 0o555);
    const { status, err, calls } = await clone.install([], {}, asPlainUser);
    await chmod(clone.directory, 0o755);
    assert.deepEqual([status, calls], [1, []]);
    assert.match(err, /^gatehouse: packages have to be installed, and this user cannot write to .*\.\n$/);
    await writeFile(clone.at('package-lock.json'), '<<<<<<< HEAD\n');
    assert.equal((await install()).status, 1);
    assert.match(printed, /^gatehouse: package-lock\.json is not valid JSON; .*\n$/);
  });

  it('leaves packages of another user as they are, and says in one line whose folder it may not change', async () => {
    await install();
    await clone.lock({ one: { version: '1.1.0' } });
    await chmod(clone.at('node_modules'), 0o555);
    const { status, err, calls } = await clone.install([], {}, asPlainUser);
    await chmod(clone.at('node_modules'), 0o755);
    assert.deepEqual([status, calls], [1, []]);
    assert.match(err, /^gatehouse: .* this user cannot write to .*node_modules\.\n$/);
    assert.equal(await exists('.previous'), false);
  });

  it('installs beside what a link leads to, and puts the link back after a failure', async () => {
    await install();
    await rename(clone.at('node_modules'), clone.at('shared'));
    await symlink('shared', clone.at('node_modules'));
    assert.deepEqual(await install(), NOTHING);
    await clone.lock({ one: { version: '1.1.0' } });
    assert.equal((await install([], { NPM_FAILS: '7' })).status, 1);
    assert.match(printed, / The packages from before are back\.\n$/);
    assert.equal(await exists('node_modules/two/package.json'), true);
    assert.deepEqual(await install(), INSTALLED);
    assert.equal(await exists('shared/two/package.json'), true);
    await rm(clone.at('shared'), { recursive: true });
  });

  it('says that npm is missing', async () => {
    // As the shell says it.
    assert.equal((await install([], { NPM_FAILS: '127' })).status, 1);
    assert.match(printed, /^gatehouse: the installation failed \(npm is not on PATH\)\. /);
  });

  it('replaces nothing under a service that runs already, and says so by its port', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const port = String((server.address() as AddressInfo).port);
    const free = { PORT: '0', GATEWAY_PORT: '0' };
    for (const [name, settings] of [
      ['PORT', { ...free, PORT: port }],
      ['GATEWAY_PORT', { ...free, GATEWAY_PORT: port }],
    ] as const) {
      const { status, calls } = await install(['--for-start'], settings);
      assert.deepEqual([status, calls], [1, []]);
      assert.match(printed, new RegExp(`^gatehouse: ${name} is ${port}, .*Nothing was installed\\.\n$`));
    }
    await writeFile(clone.at('.env'), `GATEWAY_PORT=${port}\n`);
    assert.equal((await install(['--for-start'], { PORT: '0' })).status, 1);
    assert.equal((await install(['--for-start'], free)).status, 0);
    // What is installed is left to the check of the start.
    assert.equal((await install(['--for-start'], { PORT: port })).status, 0);
    await rm(clone.at('.env'));
    server.close();
  });

  describe('in a production installation', () => {
    /** `npm ci` by hand: no stamp. */
    const npm = (...args: string[]) =>
      assert.equal(
        spawnSync(clone.at('bin/npm'), ['ci', ...args], { cwd: clone.directory, env: clone.environment() })
          .status,
        0,
      );
    beforeEach(() => npm('--omit=dev'));

    it('runs on the packages that are there, and writes nothing', async () => {
      for (const args of [[], ['--for-start']]) assert.deepEqual(await install(args), NOTHING);
      assert.equal(printed, '');
      assert.equal(await exists('node_modules/.gatehouse-install'), false);
    });

    it('runs on packages of other versions, and says how to renew them; a start renews them', async () => {
      await clone.lock({ one: { version: '1.1.0' }, two: { version: '2.1.0' } });
      assert.deepEqual(await install(), NOTHING);
      assert.match(
        printed,
        /^gatehouse: the installed packages are not those .* \(one is 1\.0\.0 instead of 1\.1\.0\); to renew them, stop the service and run npm ci .*\n$/,
      );
      assert.deepEqual(await install(['--for-start']), INSTALLED);
    });

    it('installs where a package is missing or npm ended early, and puts back what it cannot replace', async () => {
      await rm(clone.at('node_modules/two'), { recursive: true });
      assert.equal((await install([], { NPM_FAILS: '7' })).status, 1);
      assert.equal(await exists('node_modules/one/package.json'), true);
      assert.deepEqual(await install(), INSTALLED);
      npm('--omit=dev');
      await unlink(clone.at('node_modules/.package-lock.json'));
      assert.deepEqual(await install(), INSTALLED);
    });

    it('adds what tests need', async () => {
      assert.deepEqual(await install(['--with-dev']), ADDED);
      npm();
      assert.deepEqual(await install(['--with-dev']), NOTHING);
    });

    it('runs on what pruning left, and installs everything for tests', async () => {
      const options = ['--built-dashboard', '--external-stores', '--own-node'];
      assert.equal(spawnSync(process.execPath, [clone.at('setup/prune.mjs'), ...options]).status, 0);
      assert.deepEqual(await install(), NOTHING);
      assert.deepEqual(await install(['--for-start']), NOTHING);
      assert.equal(printed, '');
      assert.deepEqual(await install(['--with-dev']), INSTALLED_ALL);
    });
  });
});
