import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { identifyProcess, ownProcess, type ProcessIdentity, processState } from './process-identity.ts';

const isLinux = process.platform === 'linux';

describe('a process identity', () => {
  const own = ownProcess();

  it('tells a live process from a dead one', { skip: !isLinux }, async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)']);
    await once(child, 'spawn');
    const identity = identifyProcess(child.pid ?? 0) as ProcessIdentity;
    assert.equal(processState(identity), 'alive');
    child.kill('SIGKILL');
    await once(child, 'exit');
    assert.equal(processState(identity), 'dead');
    assert.equal(identifyProcess(identity.pid), undefined);
  });

  it('tells a process from a later one with the same pid', { skip: !isLinux }, () => {
    assert.equal(processState(own), 'alive');
    assert.equal(processState({ ...own, startTicks: '1' }), 'dead');
  });

  it('counts a zombie as dead', { skip: !isLinux }, async () => {
    // The shell starts a child and becomes a program that never collects exit statuses. The child is killed only after
    // that: the shell itself would have collected it.
    const shell = spawn('sh', ['-c', 'sleep 60 & echo $!; exec tail -f /dev/null'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    try {
      const pid = Number(await firstLine(shell));
      await until('the shell becomes tail', async () =>
        (await readFile(`/proc/${shell.pid}/cmdline`, 'utf8')).startsWith('tail\0'),
      );
      const identity = identifyProcess(pid) as ProcessIdentity;
      process.kill(pid, 'SIGKILL');
      await until('the child is a zombie', async () =>
        /\) Z /.test(await readFile(`/proc/${pid}/stat`, 'utf8')),
      );
      assert.equal(processState(identity), 'dead');
      assert.equal(identifyProcess(pid), undefined);
    } finally {
      shell.kill('SIGKILL');
      await once(shell, 'exit');
    }
  });

  const TABLE: readonly (readonly [string, ProcessIdentity, string])[] = [
    ['of another host scope', { ...own, hostScope: 'elsewhere' }, 'unknown'],
    ['of a dead pid of another host scope', { ...own, pid: 2 ** 22 + 1, hostScope: 'elsewhere' }, 'unknown'],
    ['whose pid nothing has', { ...own, pid: 2 ** 22 + 1 }, 'dead'],
    ['whose pid is 0', { ...own, pid: 0 }, 'dead'],
    ['whose pid is negative', { ...own, pid: -1 }, 'dead'],
    ['whose pid is beyond all pids', { ...own, pid: 2 ** 40 }, 'dead'],
    ['of this process without its start', { ...own, startTicks: '' }, 'alive'],
    ['of another process without its start', { ...own, pid: process.ppid, startTicks: '' }, 'unknown'],
  ];
  for (const [title, identity, expected] of TABLE) {
    it(`${title} is ${expected}`, () => {
      assert.equal(processState(identity), expected);
    });
  }
});

async function firstLine({ stdout }: ChildProcess): Promise<string> {
  assert.ok(stdout);
  for await (const chunk of stdout.setEncoding('utf8')) return String(chunk).trim();
  throw new Error('no output');
}

async function until(what: string, isTrue: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + 10_000;
  while (!(await isTrue())) {
    if (performance.now() > end) throw new Error(`timed out: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}
