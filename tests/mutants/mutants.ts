import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';

// A mutant is a mistake that a developer could make, as a patch, with the test that must fail when it is made. The first lines
// of a patch say both:
//
//   # what: the balance is read without its lock
//   # caught by: gateway/src/credit/admission.test.ts

const execute = promisify(execFile);
const directory = import.meta.dirname;
const root = join(directory, '..', '..');

export interface Mutant {
  readonly name: string;
  readonly patch: string;
  readonly what: string;
  /** Test files, as paths from the root. At least one must fail. */
  readonly caughtBy: readonly string[];
}

export async function readMutants(): Promise<Mutant[]> {
  const files = (await readdir(directory)).filter((file) => file.endsWith('.patch')).sort();
  return Promise.all(
    files.map(async (file) => {
      const text = await readFile(join(directory, file), 'utf8');
      const header = (name: string) => new RegExp(`^# ${name}: (.+)$`, 'm').exec(text)?.[1] ?? '';
      return {
        name: basename(file, '.patch'),
        patch: join(directory, file),
        what: header('what'),
        caughtBy: header('caught by')
          .split(/[\s,]+/)
          .filter((path) => path !== ''),
      };
    }),
  );
}

/** Rejects where the patch does not apply to the project as it is. Changes nothing. */
export async function checkMutant({ patch }: Mutant): Promise<void> {
  // Without its repository, which Git refuses to read when it belongs to another user.
  const env = { ...process.env, GIT_DIR: join(directory, 'no-repository') };
  await execute('git', ['apply', '--check', patch], { cwd: root, env });
}

export interface Copy extends AsyncDisposable {
  readonly root: string;
  /** Rejects where the patch does not apply. */
  apply(mutant: Mutant): Promise<void>;
  revert(mutant: Mutant): Promise<void>;
}

/** A copy of the project's files to change, which uses the packages that are installed here. */
export async function copyProject(): Promise<Copy> {
  const copy = await realpath(await mkdtemp(join(tmpdir(), 'gatehouse-mutants-')));
  // As a clone is: some programs run as another user.
  await chmod(copy, 0o755);
  const git = (...args: string[]) => execute('git', args, { cwd: copy });
  for (const entry of await readdir(root)) {
    if (!['node_modules', 'data', '.git'].includes(entry))
      await cp(join(root, entry), join(copy, entry), { recursive: true });
  }
  await linkPackages(join(root, 'node_modules'), join(copy, 'node_modules'));
  return {
    root: copy,
    apply: async ({ patch }) => void (await git('apply', patch)),
    revert: async ({ patch }) => void (await git('apply', '--reverse', patch)),
    [Symbol.asyncDispose]: () => rm(copy, { recursive: true, force: true }),
  };
}

// A link to one of the workspaces leads to that of the copy; everything else leads to what is installed.
async function linkPackages(from: string, to: string): Promise<void> {
  await mkdir(to);
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const source = join(from, entry.name);
    if (entry.isDirectory() && entry.name.startsWith('@')) {
      await linkPackages(source, join(to, entry.name));
      continue;
    }
    const target = relative(root, await realpath(source));
    const isWorkspace =
      entry.isSymbolicLink() && !target.startsWith('..') && !target.startsWith('node_modules');
    await symlink(isWorkspace ? join(rootOf(to), target) : source, join(to, entry.name));
  }
}

function rootOf(path: string): string {
  return basename(path) === 'node_modules' ? dirname(path) : rootOf(dirname(path));
}
