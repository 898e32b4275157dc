import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { glob } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { installClients } from './clients/install.ts';
import { compileTestFiles, shareCompiledCode } from './compile-cache.ts';
import { useMemoryDirectory } from './memory-directory.ts';
import { type Count, kindTimes, runFiles, slowestFiles } from './run-files.ts';
import { startTestServers } from './servers.ts';

// `npm test`: types, lint and format, then the test files of every folder except SLOW_FOLDERS, on servers that are started for this run.
// `npm run test:slow` runs the files of those folders. `npm run test:full` runs everything, and random tests with all of their seeds.
// With other arguments, only the test files whose path contains one of them. At the end stand the slowest files, the time of each
// kind of file, what failed, and the count, which is the last line.

// Two more than there are processors, because files often wait. They share one PostgreSQL, whose connections suffice for this many.
const MAX_CONCURRENCY = 4;
// The slowest file takes two minutes on two busy cores.
const FILE_MS = 10 * 60_000;
const SLOWEST_SHOWN = 10;
// The real clients, an installation of 800 MB, and the short drills.
const SLOW_FOLDERS = ['tests/clients/', 'tests/drills/'];
// The first of these that a path contains is its kind. The kinds with the longest files start first, so that a run ends with short ones.
const KINDS = ['tests/drills/', 'tests/journey/', '.browser.', 'tests/clients/', '.http.', ''];
const root = join(import.meta.dirname, '..');

interface Selection {
  readonly isChosen: (file: string) => boolean;
  readonly hasChecks: boolean;
}

function select([command = '', ...others]: readonly string[]): Selection {
  const isSlow = (file: string) => SLOW_FOLDERS.some((folder) => file.startsWith(folder));
  if (command === '') return { isChosen: (file) => !isSlow(file), hasChecks: true };
  if (command === '--slow') return { isChosen: isSlow, hasChecks: false };
  if (command === '--full') return { isChosen: () => true, hasChecks: true };
  return {
    isChosen: (file) => [command, ...others].some((part) => file.includes(part)),
    hasChecks: false,
  };
}

interface Outcome extends Count {
  /** Why checks or tests failed. */
  readonly failures: string[];
}

const noOutcome = (): Outcome => ({ passed: 0, failed: 0, skipped: 0, failures: [] });

async function main({ isChosen, hasChecks }: Selection): Promise<boolean> {
  const outcome = noOutcome();
  if (hasChecks) {
    await check(outcome, 'types', tool('tsc'), ['-p', '.']);
    await check(outcome, 'types of the dashboard', tool('tsc'), ['-p', 'dashboard']);
    await check(outcome, 'lint and format', tool('biome'), [
      'ci',
      '--colors=off',
      '--error-on-warnings',
      '.',
    ]);
  }
  // Once, so that the services that tests start find it built.
  const build = noOutcome();
  await check(build, 'build of the dashboard', process.execPath, ['dashboard/build.ts']);
  await check(build, 'build of the command', process.execPath, ['cli/bin/build-program.mjs']);
  outcome.failed += build.failed;
  outcome.failures.push(...build.failures);
  await runTests(outcome, isChosen);
  const { passed, failed, skipped, failures } = outcome;
  if (skipped > 0) process.stdout.write(`${skipped} skipped: what they need is not installed here\n`);
  if (failures.length > 0) process.stdout.write(`Failed:\n${failures.join('')}`);
  process.stdout.write(`${passed} passed, ${failed} failed\n`);
  return failed === 0 && passed > 0;
}

function tool(name: string): string {
  return join(root, 'node_modules', '.bin', name);
}

async function check(outcome: Outcome, title: string, command: string, args: string[]): Promise<void> {
  process.stdout.write(`▶ ${title}\n`);
  const child = spawn(command, args, { cwd: root, stdio: 'inherit' });
  const [status] = await once(child, 'exit');
  process.stdout.write(`${status === 0 ? '✔' : '✖'} ${title}\n`);
  outcome[status === 0 ? 'passed' : 'failed'] += 1;
  if (status !== 0) outcome.failures.push(`${title}: above\n`);
}

async function runTests(outcome: Outcome, isChosen: Selection['isChosen']): Promise<void> {
  const files = (
    await Array.fromAsync(glob('*/**/*.test.ts', { cwd: root, exclude: ['**/node_modules/**'] }))
  )
    .filter(isChosen)
    .sort((one, other) => kindOf(one) - kindOf(other) || (one < other ? -1 : 1));

  // The installation needs the network more than the processor, so it runs beside the other tests.
  const installed = files.some(isOfClients) ? installClients() : Promise.resolve();
  const areClientsReady = installed.then(
    () => true,
    (error) => {
      outcome.failures.push(`✖ ${error instanceof Error ? error.message : String(error)}\n`);
      outcome.failed += 1;
      return false;
    },
  );
  await using stack = new AsyncDisposableStack();
  stack.use(await useMemoryDirectory());
  stack.use(await shareCompiledCode());
  const compiled = compileTestFiles(files.map((file) => join(root, file)));
  stack.use(await startTestServers());
  await compiled;
  const ran = await runFiles(files, {
    root,
    concurrency: Math.min(availableParallelism() + 2, MAX_CONCURRENCY),
    fileMs: FILE_MS,
    write: (report) => process.stdout.write(report),
    // What they run keeps globals of its own.
    needsProcess: isOfClients,
    isReady: async (file) => !isOfClients(file) || areClientsReady,
  });
  for (const name of ['passed', 'failed', 'skipped'] as const) outcome[name] += ran[name];
  outcome.failures.push(...ran.failures);
  process.stdout.write(`The slowest files:\n${slowestFiles(ran.seconds, SLOWEST_SHOWN)}`);
  const kinds = kindTimes(ran.seconds, (file) => KINDS[kindOf(file)] || 'others');
  process.stdout.write(`The time of each kind, added up over files that run at the same time:\n${kinds}`);
}

function isOfClients(file: string): boolean {
  return file.startsWith('tests/clients/');
}

function kindOf(file: string): number {
  return KINDS.findIndex((part) => file.includes(part));
}

process.exitCode = (await main(select(process.argv.slice(2)))) ? 0 : 1;
