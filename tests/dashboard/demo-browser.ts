import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { startTestServers } from '../servers.ts';
import { type DashboardService, startDashboardService } from './dashboard-service.ts';
import { type Browser, openBrowser } from './visits.ts';

const ROWS = 40_000;

/** Builds the dashboard, serves it with the demo's data and opens it for `work`. Problems of the pages set the exit code. */
export async function withDemoBrowser(
  work: (service: DashboardService, browser: Browser) => Promise<readonly string[]>,
): Promise<void> {
  const root = join(import.meta.dirname, '../..');
  const { status } = spawnSync(process.execPath, ['dashboard/build.ts'], { cwd: root, stdio: 'inherit' });
  if (status !== 0) throw new Error('the dashboard could not be built');
  const problems: string[] = [];
  await using _ = await startTestServers();
  await using service = await startDashboardService({ rows: ROWS });
  await using browser = await openBrowser(service.origin, (found) => problems.push(...found));
  const files = await work(service, browser);
  process.stdout.write(`${files.join('\n')}\n`);
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  process.exitCode = problems.length === 0 ? 0 : 1;
}
