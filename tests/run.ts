import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { glob } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { installClients } from './clients/install.ts';
import { compileTestFiles, shareCompiledCode } from './compile-cache.ts';
import { LONG_FILES } from './long-files.ts';
import { useMemoryDirectory } from './memory-directory.ts';
import { type Count, runFiles, slowestFiles } from './run-files.ts';
import { startTestServers } from './servers.ts';

// `npm test`: types, then lint and format, then every *.test.ts on servers that are started for this run. With arguments, only the test
// files whose path contains one of them. A file that never ends is killed. At the end come the slowest files, and the count as the last line.

// Two more than there are processors, because files often wait. They share one PostgreSQL, whose connections suffice for this many.
const MAX_CONCURRENCY = 4;
// The slowest file takes two minutes on two busy cores.
const FILE_MS = 10 * 60_000;
const root = join(import.meta.dirname, '..');
const SLOWEST_SHOWN = 10;

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
  if (skipped > 0) process.stdout.write(`${skipped} skipped: what they need is not installed here\n`);
  process.stdout.write(`${passed} passed, ${failed} failed\n`);
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
    .sort(inOrder)
    .map((file) => join(root, file));

  // The installation needs the network more than the processor, so it runs beside the other tests.
  const installed = files.some(isOfClients) ? installClients() : Promise.resolve();
  const areClientsReady = installed.then(
    () => true,
    (error) => {
      process.stdout.write(`✖ ${error instanceof Error ? error.message : String(error)}\n`);
      count.failed += 1;
      return false;
    },
  );
  await using stack = new AsyncDisposableStack();
  stack.use(await useMemoryDirectory());
  stack.use(await shareCompiledCode());
  const compiled = compileTestFiles(files);
  stack.use(await startTestServers());
  await compiled;
  const ran = await runFiles(files, {
    concurrency: Math.min(availableParallelism() + 2, MAX_CONCURRENCY),
    fileMs: FILE_MS,
    write: (report) => process.stdout.write(report),
    isReady: async (file) => !isOfClients(file) || areClientsReady,
  });
  for (const name of ['passed', 'failed', 'skipped'] as const) count[name] += ran[name];
  const slowest = slowestFiles(ran.seconds, SLOWEST_SHOWN).replaceAll(join(root, '/'), '');
  process.stdout.write(`The slowest files:\n${slowest}`);
}

function isOfClients(file: string): boolean {
  return file.includes(join('tests', 'clients', '/'));
}

/** The long ones first, so that the run does not end with one of them; then those that wait for an installation at the start. */
function inOrder(one: string, other: string): number {
  const rank = (file: string) => {
    const index = LONG_FILES.indexOf(file);
    return index >= 0 ? index : LONG_FILES.length + (isOfClients(file) ? 0 : 1);
  };
  return rank(one) - rank(other) || (one < other ? -1 : 1);
}

process.exitCode = (await main(process.argv.slice(2))) ? 0 : 1;
