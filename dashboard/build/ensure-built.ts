import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { isComplete, readRecord } from './dist.ts';
import { stampOfSources } from './stamp.ts';

const WORKSPACE = join(import.meta.dirname, '..');

/** The folder of the built page. */
export const DIST = join(WORKSPACE, 'dist');

/** The page could not be built. The message says why. */
export class DashboardBuildError extends Error {
  override readonly name = 'DashboardBuildError';
}

/** The stamp of a build that is due; undefined where the page is current. */
export async function dueStamp(dist: string): Promise<string | undefined> {
  const stamp = await stampOfSources(join(WORKSPACE, '..'));
  const record = await readRecord(dist);
  return record?.stamp === stamp && (await isComplete(dist, record)) ? undefined : stamp;
}

/**
 * Builds the page if its sources or the lock file have changed, and returns what a person is told; undefined if it is current. In a
 * process of its own, because the 60 MB that a build takes would stay with this one. Throws DashboardBuildError.
 */
export async function ensureBuilt(dist = DIST): Promise<string | undefined> {
  if ((await dueStamp(dist)) === undefined) return undefined;
  const build = promisify(execFile)(process.execPath, [join(WORKSPACE, 'build.ts'), dist]);
  const { stdout } = await build.catch(({ message, stderr }: Error & { readonly stderr?: string }) => {
    throw new DashboardBuildError(stderr?.trim() || message);
  });
  return stdout.trim();
}
