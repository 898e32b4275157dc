import { execFile } from 'node:child_process';
import { access, mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

// An earlier commit of this repository in a folder, with the packages that are installed here: only its own workspaces differ.

export interface EarlierVersion extends AsyncDisposable {
  /** Why there is none; undefined where there is. */
  readonly missing: string | undefined;
  readonly directory: string;
  readonly description: string;
  readonly hasDrainDelay: boolean;
}

const root = join(import.meta.dirname, '../../..');
const MIGRATIONS = 'store/src/postgres/migrations';
const git = async (...args: readonly string[]) =>
  (await promisify(execFile)('git', args, { cwd: root })).stdout.trim();

/** The commit before the newest step of the schema. */
async function beforeNewestStep(): Promise<string> {
  const newest = (await readdir(join(root, MIGRATIONS))).sort().at(-1);
  const added = await git('log', '--diff-filter=A', '--format=%H', '--', `${MIGRATIONS}/${newest}`);
  if (added === '') throw new Error(`no commit adds ${newest}`);
  return `${added.split('\n')[0]}~1`;
}

export async function earlierVersion(wanted: string | undefined): Promise<EarlierVersion> {
  await using stack = new AsyncDisposableStack();
  let commit: string;
  try {
    commit = await git('rev-parse', '--verify', `${wanted ?? (await beforeNewestStep())}^{commit}`);
  } catch (error) {
    return none(`no earlier version: ${(error as Error).message.split('\n')[0]}`);
  }
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-earlier-'));
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  const workspaces = JSON.parse(await git('show', `${commit}:package.json`)).workspaces as string[];
  const needed = workspaces.filter((path) => path !== 'tests' && path !== 'bench');
  // A shell for the pipe alone; the texts are of this repository.
  const archive = `git archive ${commit} package.json catalogue.yaml ${needed.join(' ')} | tar -x -C '${directory}'`;
  await promisify(execFile)('sh', ['-c', archive], { cwd: root });
  await linkPackages(directory, needed);
  const hasDrainDelay = await access(join(directory, 'cli/src/config/drain-setting.ts')).then(
    () => true,
    () => false,
  );
  const open = stack.move();
  return {
    missing: undefined,
    directory,
    description: await git('log', '-1', '--format=%h (%s)', commit),
    hasDrainDelay,
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

async function linkPackages(directory: string, workspaces: readonly string[]): Promise<void> {
  const target = join(directory, 'node_modules');
  await mkdir(join(target, '@gatehouse'), { recursive: true });
  for (const name of await readdir(join(root, 'node_modules')))
    if (name !== '@gatehouse' && name !== 'gatehouse')
      await symlink(join(root, 'node_modules', name), join(target, name));
  for (const path of workspaces) {
    const { name } = JSON.parse(await readFile(join(directory, path, 'package.json'), 'utf8'));
    await symlink(join(directory, path), join(target, name));
  }
}

function none(missing: string): EarlierVersion {
  return {
    missing,
    directory: '',
    description: '',
    hasDrainDelay: false,
    [Symbol.asyncDispose]: async () => undefined,
  };
}
