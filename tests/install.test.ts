import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmod, copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, before, describe, it } from 'node:test';

const root = join(import.meta.dirname, '..');

// The real set-up in a folder of its own, with an npm that only records its arguments.
const NPM = `#!/bin/sh
echo "$*" >> "$NPM_CALLS"
[ -z "$NPM_FAILS" ] || exit 7
[ "$1" = ci ] && rm -rf node_modules
mkdir -p node_modules
`;

const COMMON = '--ignore-scripts --no-audit --no-fund --loglevel=error';

describe('the set-up', () => {
  let directory: string;
  /** What the last run wrote to standard error. */
  let told = '';
  const at = (...path: string[]) => join(directory, ...path);
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gatehouse-install-'));
    await mkdir(at('bin'));
    await mkdir(at('setup'));
    for (const name of ['install.mjs', 'ports.mjs'])
      await copyFile(join(root, 'setup', name), at('setup', name));
    await writeFile(at('bin/npm'), NPM);
    await chmod(at('bin/npm'), 0o755);
  });
  after(() => rm(directory, { recursive: true, force: true }));

  /** As after a clone, with this lockfile. */
  const clone = async (lock = '{}') => {
    await rm(at('node_modules'), { recursive: true, force: true });
    await writeFile(at('package-lock.json'), lock);
  };

  /** Runs it. Returns its calls of npm and its exit code. */
  const run = async (args: readonly string[] = [], more: Record<string, string> = {}) => {
    await writeFile(at('calls'), '');
    const child = execFile(process.execPath, [at('setup/install.mjs'), ...args], {
      cwd: directory,
      env: {
        PATH: `${at('bin')}${delimiter}${process.env['PATH']}`,
        NPM_CALLS: at('calls'),
        // Set in production environments; tests need development dependencies all the same.
        NODE_ENV: 'production',
        ...more,
      },
    });
    told = '';
    child.stderr?.on('data', (chunk) => {
      told += chunk;
    });
    const [status] = await once(child, 'close');
    return { status, calls: (await readFile(at('calls'), 'utf8')).split('\n').filter(Boolean) };
  };

  it('installs the production packages without install scripts, and does nothing the second time', async () => {
    await clone();
    assert.deepEqual(await run(), { status: 0, calls: [`ci --omit=dev ${COMMON}`] });
    assert.deepEqual(await run(), { status: 0, calls: [] });
  });

  it('adds development dependencies without removing anything, and keeps them', async () => {
    await clone();
    await run();
    await writeFile(at('node_modules/in-use'), '');
    assert.deepEqual(await run(['--with-dev']), {
      status: 0,
      calls: [`install --no-save --include=dev ${COMMON}`],
    });
    await readFile(at('node_modules/in-use'));
    assert.deepEqual(await run(['--with-dev']), { status: 0, calls: [] });
    assert.deepEqual(await run(), { status: 0, calls: [] });
  });

  it('installs everything at once for the tests of a fresh clone', async () => {
    await clone();
    assert.deepEqual(await run(['--with-dev']), { status: 0, calls: [`ci --include=dev ${COMMON}`] });
    assert.deepEqual(await run(), { status: 0, calls: [] });
  });

  it('reinstalls after a changed lockfile, with the same extent', async () => {
    await clone();
    await run();
    await writeFile(at('package-lock.json'), '{"changed": 1}');
    assert.deepEqual((await run()).calls, [`ci --omit=dev ${COMMON}`]);
    await run(['--with-dev']);
    await writeFile(at('package-lock.json'), '{"changed": 2}');
    assert.deepEqual((await run()).calls, [`ci --include=dev ${COMMON}`]);
  });

  it('recognises an installation of an earlier version', async () => {
    await clone();
    await run(['--with-dev']);
    const stamp = await readFile(at('node_modules/.gatehouse-install'), 'utf8');
    await writeFile(at('node_modules/.gatehouse-install'), stamp.split(' ')[0] ?? '');
    assert.deepEqual(await run(['--with-dev']), { status: 0, calls: [] });
  });

  it('replaces nothing under a service that runs already, and says so by its port', async () => {
    await clone();
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const port = String((server.address() as AddressInfo).port);
    const free = { PORT: '0', GATEWAY_PORT: '0' };
    for (const [name, settings] of [
      ['PORT', { ...free, PORT: port }],
      ['GATEWAY_PORT', { ...free, GATEWAY_PORT: port }],
    ] as const) {
      const { status, calls } = await run(['--for-start'], settings);
      assert.deepEqual([status, calls], [1, []]);
      assert.match(told, new RegExp(`^gatehouse: ${name} is ${port}, .*Nothing was installed\\.\n$`));
    }
    await writeFile(at('.env'), `GATEWAY_PORT=${port}\n`);
    assert.equal((await run(['--for-start'], { PORT: '0' })).status, 1);
    assert.equal((await run(['--for-start'], free)).status, 0);
    // What is installed is left to the check of the start.
    assert.equal((await run(['--for-start'], { PORT: port })).status, 0);
    await rm(at('.env'));
    server.close();
  });

  it('retries after a failure, whatever was installed by then', async () => {
    await clone();
    assert.equal((await run([], { NPM_FAILS: '1' })).status, 1);
    assert.equal((await run()).calls.length, 1);
    assert.equal((await run(['--with-dev'], { NPM_FAILS: '1' })).status, 1);
    assert.deepEqual((await run(['--with-dev'])).calls, [`install --no-save --include=dev ${COMMON}`]);
  });
});
