import { createHash } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BuildResult } from 'esbuild';
import { type Bundle, bundleOf, bundleOptions, firstLoad, firstScriptOptions } from './bundle.ts';
import { withVariants } from './compress.ts';
import { writeDist } from './dist.ts';
import { DashboardBuildError, DIST, dueStamp } from './ensure-built.ts';
import { indexPage } from './index-page.ts';

const WORKSPACE = join(import.meta.dirname, '..');
const ICON = join(WORKSPACE, 'src/app/icon.svg');

/** Builds the page if its sources or the lock file have changed. Returns how long it took, undefined if it is current. */
export async function buildDashboard(dist = DIST): Promise<number | undefined> {
  const startedAt = performance.now();
  try {
    const stamp = await dueStamp(dist);
    if (stamp === undefined) return undefined;
    // Before the work, because without this right it would be for nothing.
    await mkdir(join(dist, 'assets'), { recursive: true });
    await writeDist(dist, stamp, await filesOf(...(await bundle()), false));
    return performance.now() - startedAt;
  } catch (error) {
    throw new DashboardBuildError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

/** The module graph of the page and the script before it. */
export async function bundle(): Promise<[Bundle, Bundle]> {
  // Loaded only when something is built. esbuild keeps a thread and a process for further builds until it is stopped.
  const { buildSync, stop } = await import('esbuild');
  try {
    return [
      bundleOf(WORKSPACE, buildSync(bundleOptions(WORKSPACE, false))),
      bundleOf(WORKSPACE, buildSync(firstScriptOptions(WORKSPACE, false))),
    ];
  } finally {
    await stop();
  }
}

/** Builds the page for developers at every change, with source maps, until the signal. `onBuild` hears of each build. */
export async function watchDashboard(
  onBuild: (errors: readonly string[]) => void,
  stopped: AbortSignal,
  dist = DIST,
): Promise<void> {
  const { build, context, formatMessages } = await import('esbuild');
  const onEnd = async (result: BuildResult) => {
    const messages = [...result.errors, ...result.warnings];
    if (messages.length > 0) return onBuild(await formatMessages(messages, { kind: 'error' }));
    const first = bundleOf(WORKSPACE, await build(firstScriptOptions(WORKSPACE, true)));
    // No stamp of sources equals it, so the next start builds for production.
    await writeDist(dist, 'development', await filesOf(bundleOf(WORKSPACE, result), first, true));
    onBuild([]);
  };
  const options = bundleOptions(WORKSPACE, true);
  const watched = await context({
    ...options,
    plugins: [{ name: 'write', setup: ({ onEnd: on }) => on((result) => onEnd(result)) }],
  });
  await watched.watch();
  await new Promise<void>((resolve) => stopped.addEventListener('abort', () => resolve(), { once: true }));
  await watched.dispose();
}

async function filesOf(
  page: Bundle,
  first: Bundle,
  isForDevelopment: boolean,
): Promise<Map<string, Uint8Array>> {
  const [script] = [...first.files.keys()].filter((path) => path.endsWith('.js'));
  if (script === undefined) throw new Error('the bundle has no first script');
  const icon = await readFile(ICON);
  const iconPath = `assets/icon-${createHash('sha256').update(icon).digest('hex').slice(0, 8)}.svg`;
  const index = indexPage({ ...firstLoad(page.metafile), script, icon: iconPath });
  const files: [string, Uint8Array][] = [
    ...page.files,
    ...first.files,
    [iconPath, icon],
    ['index.html', new TextEncoder().encode(index)],
  ];
  const variants = files.map(([path, content]) => withVariants(path, content, isForDevelopment));
  return new Map((await Promise.all(variants)).flat());
}
