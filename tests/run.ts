import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { glob } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { installClients } from './clients/install.ts';
import { type Count, runFiles } from './run-files.ts';
import { startTestServers } from './servers.ts';

// `npm test`: types, then lint and format, then every *.test.ts on servers that are started for this run. With arguments, only the test files whose path contains one of them. The last line is the
// count. A file that never ends is killed.

// One more than there are processors, because files often wait. They share one PostgreSQL, whose connections suffice for this many.
const MAX_CONCURRENCY = 4;
// The slowest file takes two minutes on two busy cores.
const FILE_MS = 10 * 60_000;
const root = join(import.meta.dirname, '..');
const CLIENTS = join(root, 'tests/clients/');

async function main(only: readonly string[]): Promise<boolean> {
  const count: Count = { passed: 0, failed: 0, skipped: 0 };
  if (only.length === 0) {
    await check(count, 'types', tool('tsc'), ['-p', '.']);
    await check(count, 'types of the dashboard', tool('tsc'), ['-p', 'dashboard']);
    await check(count, 'lint and format', tool('biome'), ['ci', '--colors=off', '--error-on-warnings', '.']);
  }
  // Once, so that the services that tests start find it built.
  const build: Count = { passed: 0, failed: 0, skipped: 0 };
  await check(build, 'build of the dashboard', process.execPath, ['dashboard/build.ts']);
  count.failed += build.failed;
  await runTests(count, only);
  const { passed, failed, skipped } = count;
  process.stdout.write(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`);
  return count.failed === 0 && count.passed > 0;
}

function tool(name: string): string {
  return join(root, 'node_modules', '.bin', name);
}

async function check(count: Count, title: string, command: string, args: string[]): Promise<void> {
  process.stdout.write(`▶ ${title}\n`);
  const child = spawn(command, args, { cwd: root, stdio: 'inherit' });
  const [status] = await once(child, 'exit');
  process.stdout.write(`${status === 0 ? '✔' : '✖'} ${title}\n`);
  count[status === 0 ? 'passed' : 'failed'] += 1;
}

async function runTests(count: Count, only: readonly string[]): Promise<void> {
  const files = (
    await Array.fromAsync(glob('*/**/*.test.ts', { cwd: root, exclude: ['**/node_modules/**'] }))
  )
    .filter((file) => only.length === 0 || only.some((part) => file.includes(part)))
    .sort()
    .map((file) => join(root, file));

  const isOfClients = (file: string) => file.startsWith(CLIENTS);
  // The installation needs the network more than the processor, so it runs beside the other tests.
  const installing = files.some(isOfClients) ? installClients() : Promise.resolve();
  installing.catch(() => undefined);
  await using _ = await startTestServers();
  const run = async (some: readonly string[]) => {
    const ran = await runFiles(some, {
      concurrency: Math.min(availableParallelism() + 1, MAX_CONCURRENCY),
      fileMs: FILE_MS,
      write: (report) => process.stdout.write(report),
    });
    for (const name of ['passed', 'failed', 'skipped'] as const) count[name] += ran[name];
  };
  await run(files.filter((file) => !isOfClients(file)));
  try {
    await installing;
  } catch (error) {
    process.stdout.write(`✖ ${error instanceof Error ? error.message : String(error)}\n`);
    count.failed += 1;
    return;
  }
  await run(files.filter(isOfClients));
}

process.exitCode = (await main(process.argv.slice(2))) ? 0 : 1;
