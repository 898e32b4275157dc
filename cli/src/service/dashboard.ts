import { unwatchFile, watchFile } from 'node:fs';
import { join } from 'node:path';
import { type DashboardFiles, readDashboard } from '@gatehouse/control-plane';
import { DashboardBuildError, DIST, ensureBuilt } from '@gatehouse/dashboard/build';
import type { Logger } from 'pino';
import { ConfigError } from '../config/config-error.ts';
import type { DashboardMode } from '../config/dashboard-setting.ts';

/** The dashboard as it is served. */
export interface Dashboard extends Disposable {
  /** Its files as they are now. */
  readonly files: () => DashboardFiles;
}

/**
 * Builds the dashboard if its sources have changed, and reads its files. `say` hears of a build. Throws ConfigError where
 * that fails, because a service without its page would look broken; undefined where the setting turns it off.
 */
export async function openDashboard(
  mode: DashboardMode,
  say: (text: string) => void,
  log: Logger,
  dist = DIST,
): Promise<Dashboard | undefined> {
  if (mode === 'off') return undefined;
  let files: DashboardFiles;
  try {
    const built = await ensureBuilt(dist);
    if (built !== undefined) say(built);
    files = await readDashboard(dist);
  } catch (error) {
    const built = error instanceof DashboardBuildError ? 'built' : 'read';
    const { message } = error as Error;
    throw new ConfigError(
      `The dashboard cannot be ${built}: ${message}. Repair that, or set DASHBOARD=off to serve the API alone`,
    );
  }
  if (mode === 'on') return { files: () => files, [Symbol.dispose]: () => undefined };

  const record = join(dist, 'build.json');
  const readAgain = () => {
    readDashboard(dist).then(
      (read) => {
        files = read;
      },
      (error: unknown) =>
        log.warn({ event: 'dashboard.read_failed', err: error }, 'dashboard not read again'),
    );
  };
  watchFile(record, { interval: WATCH_INTERVAL_MS, persistent: false }, readAgain);
  return { files: () => files, [Symbol.dispose]: () => unwatchFile(record, readAgain) };
}

const WATCH_INTERVAL_MS = 300;
