import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { glob, mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { openEmbeddedClickHouse, openEmbeddedPostgres } from '@gatehouse/embedded';

// `npm test`: types, then lint and format, then every *.test.ts on servers that are started for this run and
// belong to it. With arguments, only the test files whose path contains one of them. The last line is the count.

// The files share one PostgreSQL, whose connections are enough for so many.
const AT_ONCE = 4;
const FILE_MS = 10 * 60_000;
const root = join(import.meta.dirname, '..');

interface Count {
  passed: number;
  failed: number;
}

async function main(only: readonly string[]): Promise<boolean> {
  const count: Count = { passed: 0, failed: 0 };
  if (only.length === 0) {
    await check(count, 'types', 'tsc', ['-p', '.']);
    await check(count, 'lint and format', 'biome', ['ci', '--colors=off', '--error-on-warnings', '.']);
  }
  await runTests(count, only);
  process.stdout.write(`${count.passed} passed, ${count.failed} failed\n`);
  return count.failed === 0 && count.passed > 0;
}

async function check(count: Count, title: string, command: string, args: string[]): Promise<void> {
  process.stdout.write(`▶ ${title}\n`);
  const child = spawn(join(root, 'node_modules', '.bin', command), args, { cwd: root, stdio: 'inherit' });
  const [status] = await once(child, 'exit');
  process.stdout.write(`${status === 0 ? '✔' : '✖'} ${title}\n`);
  count[status === 0 ? 'passed' : 'failed'] += 1;
}

async function runTests(count: Count, only: readonly string[]): Promise<void> {
  const files = (await Array.fromAsync(glob('*/**/*.test.ts', { cwd: root, exclude: ['node_modules/**'] })))
    .filter((file) => only.length === 0 || only.some((part) => file.includes(part)))
    .sort()
    .map((file) => join(root, file));

  await using stack = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-tests-'));
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  const postgres = stack.use(await openEmbeddedPostgres({ dataDir: directory }));
  const clickhouse = stack.use(await openEmbeddedClickHouse({ dataDir: directory }));
  // Each test file is a process of its own and finds the servers by this.
  process.env['GATEHOUSE_TEST_SERVERS'] = JSON.stringify({
    postgres: postgres.connection,
    clickhouse: { socketPath: clickhouse.socketPath },
  });

  // A file takes two minutes at most; one that never ends is to say so.
  const stream = run({ files, concurrency: Math.min(availableParallelism(), AT_ONCE), timeout: FILE_MS });
  stream.on('test:summary', (summary) => {
    if (summary.file !== undefined) return;
    count.passed += summary.counts.passed;
    count.failed +=
      summary.counts.tests - summary.counts.passed - summary.counts.skipped - summary.counts.todo;
  });
  stream.compose(new spec()).pipe(process.stdout, { end: false });
  await once(stream, 'end');
}

process.exitCode = (await main(process.argv.slice(2))) ? 0 : 1;
