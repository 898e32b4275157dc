import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { until } from './crashing.ts';
import { systemProcesses } from './process-mark.ts';

const isLinux = process.platform === 'linux';
const { own, lifeOf } = systemProcesses;

describe('a process mark', () => {
  it('tells the living from the dead', { skip: !isLinux }, async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)']);
    await once(child, 'spawn');
    const mark = await markOf(child.pid ?? 0);
    assert.equal(await lifeOf(mark), 'alive');
    child.kill('SIGKILL');
    await once(child, 'exit');
    assert.equal(await lifeOf(mark), 'dead');
  });

  it('is not fooled by another process with the same number', async () => {
    const mark = await own();
    assert.equal(await lifeOf(mark), 'alive');
    if (isLinux) assert.equal(await lifeOf({ ...mark, startedAt: '1' }), 'dead');
  });

  it('counts a process as dead that was killed and that nobody has waited for', {
    skip: !isLinux,
  }, async () => {
    // The shell starts a child and becomes a program that never waits for it. Only once it has become that may the
    // child end: the shell itself would still have waited.
    const shell = spawn('sh', ['-c', 'sleep 60 & echo $!; exec tail -f /dev/null'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    try {
      const pid = Number(await firstLine(shell));
      await until(async () => (await readFile(`/proc/${shell.pid}/cmdline`, 'utf8')).startsWith('tail\0'));
      process.kill(pid, 'SIGKILL');
      await until(async () => /\) Z /.test(await readFile(`/proc/${pid}/stat`, 'utf8')));
      assert.equal(await lifeOf(await markOf(pid)), 'dead');
    } finally {
      shell.kill('SIGKILL');
      await once(shell, 'exit');
    }
  });

  it('claims to know nothing about a process of another container, host or boot', async () => {
    const mark = await own();
    assert.equal(await lifeOf({ ...mark, world: 'elsewhere' }), 'unknown');
    assert.equal(await lifeOf({ pid: 2 ** 22, startedAt: '1', world: 'elsewhere' }), 'unknown');
  });

  it('counts a number that no process has as dead', async () => {
    const mark = await own();
    assert.equal(await lifeOf({ ...mark, pid: 2 ** 22 + 1 }), 'dead');
  });
});

async function markOf(pid: number) {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  const startedAt = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  return { pid, startedAt, world: (await own()).world };
}

async function firstLine({ stdout }: ChildProcess): Promise<string> {
  assert.ok(stdout);
  for await (const chunk of stdout.setEncoding('utf8')) return String(chunk).trim();
  throw new Error('no output');
}
