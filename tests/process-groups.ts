import { readFile } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';

// A test file costs half a second of processor time before its first test: a process starts, and loads and compiles the same modules as the
// last one. So files that leave nothing behind in their process run several to a process.

/** So few that a process of slow ones does not outlast the run. */
const MAX_FILES = 6;

/** What a test does to more than its own file, and so needs a process of its own for. */
const NEEDS_OWN_PROCESS: readonly RegExp[] = [
  // Hooks outside a `describe` are for every test of the process.
  /^(before|after|beforeEach|afterEach)\(/m,
  // Time, modules and methods that are replaced for everybody.
  /\bmock\.(timers|method|module|fn|getter|setter|property)\b|\bmock\b[^'\n]*from 'node:test'/,
  // Signals, the environment, the exit; what the process holds or spends.
  /\bprocess\.(?!platform\b|versions?\b|arch\b|execPath\b|pid\b|nextTick\b)/,
  /\bglobalThis\b|\bperformance\.now\b|'node:(child_process|cluster|worker_threads|v8|vm|inspector|perf_hooks|async_hooks|diagnostics_channel)'/,
  // Engines and services of their own are processes, which must not wait for the tests of other files to be stopped.
  /\b(openEmbedded|openTestEngine|useTestEngine|startKillable|startService|runCommand|startCommand)/,
];

/** What the fixtures of a file do: functions of theirs that a file calls outside a `describe` make hooks of every test. */
const HOOKS_OF_FIXTURE = /\b(before|beforeEach|afterEach)\b[^\n]*from 'node:test'/;
const FIXTURE = /from '(\.[^']*\.fixture\.ts)'/g;

/** `read` returns the content of a file that the source names by its relative path. */
export async function mayShareProcess(
  source: string,
  read: (path: string) => Promise<string>,
): Promise<boolean> {
  if (NEEDS_OWN_PROCESS.some((pattern) => pattern.test(source))) return false;
  const fixtures = await Promise.all(Array.from(source.matchAll(FIXTURE), ([, path = '']) => read(path)));
  return !fixtures.some((fixture) => HOOKS_OF_FIXTURE.test(fixture));
}

/**
 * The files in their order, those together that run in one process: neighbours of one workspace. `isAlone` names files that
 * get a process of their own whatever they contain.
 */
export async function groupFiles(
  files: readonly string[],
  { root, isAlone }: { readonly root: string; readonly isAlone: (file: string) => boolean },
): Promise<readonly (readonly string[])[]> {
  const groups: string[][] = [];
  const open = new Map<string, string[]>();
  for (const file of files) {
    const read = (path: string) => readFile(join(dirname(file), path), 'utf8');
    if (isAlone(file) || !(await mayShareProcess(await readFile(file, 'utf8'), read))) {
      groups.push([file]);
      continue;
    }
    const [workspace = ''] = relative(root, file).split(sep);
    const group = open.get(workspace);
    if (group !== undefined && group.length < MAX_FILES) {
      group.push(file);
      continue;
    }
    const next = [file];
    open.set(workspace, next);
    groups.push(next);
  }
  return groups;
}
