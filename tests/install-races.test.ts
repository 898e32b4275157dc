import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { identifyProcess } from '@gatehouse/concurrency';
import { Clone, ended, said, until } from './installation.fixture.ts';

const WAITING = 'Another process is installing packages in this folder; waiting for it ...\n';
const isEnded = (pid: number) => identifyProcess(pid) === undefined;

describe('several at the installation of one clone', () => {
  let clone: Clone;
  before(async () => {
    clone = await Clone.open();
  });
  beforeEach(() => clone.clear());
  // A test that fails leaves nothing running that the next one would wait for.
  afterEach(() => clone.endAll());
  after(() => clone.close());

  const install = (more = {}) => clone.start([process.execPath, clone.at('setup/install.mjs')], more);
  /** Nothing is left to do, and nothing is left behind. */
  const assertInstalled = async () => {
    const { status, calls } = await clone.install();
    assert.deepEqual([status, calls], [0, []]);
    assert.deepEqual(
      readdirSync(clone.directory).filter((name) => name.startsWith('.')),
      [],
    );
  };

  it('the second waits for the first, says so, and then installs nothing', async () => {
    const first = await clone.installHalf();
    // Its PATH lacks the system's folders.
    const second = install({ PATH: clone.at('bin') });
    const result = ended(second);
    await said(second, WAITING);
    await clone.release();
    assert.equal((await first.ended).status, 0);
    assert.deepEqual(await result, { status: 0, out: WAITING, err: '' });
    assert.equal((await clone.calls()).length, 1);
    await assertInstalled();
  });

  it('eight at once install once', async () => {
    await writeFile(clone.at('calls'), '');
    const all = await Promise.all(Array.from({ length: 8 }, () => ended(install())));
    assert.deepEqual(new Set(all.map(({ status }) => status)), new Set([0]));
    assert.equal((await clone.calls()).length, 1);
    await assertInstalled();
  });

  for (const signal of ['SIGKILL', 'SIGHUP', 'SIGINT', 'SIGTERM'] as const)
    it(`npm ends with the installation by ${signal}, and the next one does it again`, async () => {
      const { child, npm, ended } = await clone.installHalf();
      // As a terminal does that closes. npm is in a group of its own.
      process.kill(-(child.pid ?? 0), signal);
      await ended;
      await until('npm has ended', () => isEnded(npm));
      await clone.forget();
      assert.equal((await clone.install()).calls.length, 1);
      await assertInstalled();
    });

  it('ends when npm above it is killed', async () => {
    // As `npm start`: npm, a shell, and the installation below it.
    const above = ['sh', '-c', '"$@"; exit', 'npm'];
    const below = ['env', 'npm_lifecycle_event=start', 'sh', '-c', '"$@"; exit', 'sh'];
    const { child, npm } = await clone.installHalf([...above, ...below]);
    child.kill('SIGKILL');
    await until('npm has ended', () => isEnded(npm));
    await clone.forget();
    assert.equal((await clone.install()).calls.length, 1);
    await assertInstalled();
  });

  it('a killed npm is a failed installation, and the next one does it again', async () => {
    const { npm, ended } = await clone.installHalf();
    process.kill(npm, 'SIGKILL');
    const { status, err } = await ended;
    assert.equal(status, 1);
    assert.match(err, /^gatehouse: the installation failed \(npm ci was ended by SIGKILL\)\. /);
    await clone.forget();
    assert.equal((await clone.install()).calls.length, 1);
    await assertInstalled();
  });

  it('the lock lasts as long as an npm that nothing ended', {
    skip: process.platform !== 'linux',
  }, async () => {
    const { child, npm } = await clone.installHalf();
    for (const pid of groupOf(npm)) if (pid !== npm && isWatcher(pid)) process.kill(pid, 'SIGKILL');
    child.kill('SIGKILL');
    await once(child, 'exit');
    assert.equal(isEnded(npm), false);
    const second = install();
    const result = ended(second);
    await said(second, WAITING);
    await clone.release();
    assert.equal((await result).status, 0);
    assert.deepEqual(
      (await clone.calls()).map((call) => call.split(' ')[0]),
      ['ci', 'ci'],
    );
    await assertInstalled();
  });

  describe('under a running service', () => {
    const change = () => clone.lock({ one: { version: '1.1.0' } });
    const service = async (args: readonly string[]) => {
      const child = clone.start([process.execPath, ...args]);
      const result = ended(child);
      await said(child, 'running');
      return {
        pid: child.pid,
        async stop() {
          child.kill();
          await result;
        },
      };
    };
    const RUNNING = "process.stdout.write('running');setInterval(() => {}, 1e6);";
    before(async () => {
      await writeFile(
        clone.at('cli/src/main.ts'),
        `export function main() {${RUNNING} return new Promise(() => {})}`,
      );
      await writeFile(clone.at('cli/src/earlier.ts'), RUNNING);
      await writeFile(
        clone.at('hidden.js'),
        `import { usePackages } from './setup/locks.mjs'; if (usePackages(import.meta.dirname)) {${RUNNING}}`,
      );
    });
    beforeEach(() => clone.install());

    for (const [what, args, isNamed] of [
      ['by its path', (at: string) => [`${at}/cli/bin/gatehouse.mjs`, 'start'], true],
      [
        'from the folder, with options of Node',
        () => ['--max-semi-space-size=64', 'cli/bin/gatehouse.mjs'],
        true,
      ],
      ['by an earlier version, which took no lock', () => ['cli/src/earlier.ts'], true],
      ['where its process cannot be seen', () => ['hidden.js'], false],
    ] as const)
      it(`started ${what}: nothing is replaced, and one line says why`, async () => {
        const { pid, stop } = await service(args(clone.directory));
        await change();
        for (const option of [[], ['--with-dev'], ['--for-start']]) {
          const settings = { PORT: '0', GATEWAY_PORT: '0' };
          const { status, calls, err } = await clone.install(option, settings);
          assert.deepEqual([status, calls], [1, []]);
          const named = isNamed ? ` (process ${pid})` : '';
          assert.equal(
            err,
            `gatehouse: packages have to be installed (package-lock.json has changed), and Gatehouse is running from this folder${named}; stop it first. Nothing was installed.\n`,
          );
        }
        await stop();
        assert.equal((await clone.install()).calls.length, 1);
        await assertInstalled();
      });

    it('what tests need is added', async () => {
      const { stop } = await service(['cli/bin/gatehouse.mjs']);
      assert.equal((await clone.install(['--with-dev'])).status, 0);
      await stop();
    });

    it('a service of another clone is none', async () => {
      const other = await Clone.open();
      try {
        await writeFile(
          other.at('cli/src/main.ts'),
          `export function main() {${RUNNING} return new Promise(() => {})}`,
        );
        const started = await service([other.at('cli/bin/gatehouse.mjs')]);
        await change();
        assert.equal((await clone.install()).calls.length, 1);
        await started.stop();
      } finally {
        await other.close();
      }
    });

    it('does not start while packages are replaced', async () => {
      await change();
      const { ended: first } = await clone.installHalf();
      const { status, stderr } = spawnSync(process.execPath, [clone.at('cli/bin/gatehouse.mjs'), 'start'], {
        encoding: 'utf8',
      });
      assert.equal(status, 1);
      assert.equal(
        stderr,
        'gatehouse: packages are being installed in this folder; try again when that has ended\n',
      );
      await clone.release();
      assert.equal((await first).status, 0);
      await assertInstalled();
    });
  });
});

/** The processes of the group that the pid leads. */
function groupOf(leader: number): readonly number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
        return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2]) === leader;
      } catch {
        return false;
      }
    });
}

/** The shell that waits for the end of the installation, and its cat; not what npm itself runs, which may have ended meanwhile. */
function isWatcher(pid: number): boolean {
  try {
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    return command.startsWith('cat\0') || command.includes('kill -KILL 0');
  } catch {
    return false;
  }
}
