import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { startTestServers } from '../servers.ts';
import { startDashboardService } from './dashboard-service.ts';
import { takeScreenshots } from './take-screenshots.ts';
import { openBrowser } from './visits.ts';

// `npm run screenshots -- FOLDER [PAGE ...]`: pictures of the pages on the demo's data. The README's are among them.

const ROWS = 40_000;

const [folder, ...pages] = process.argv.slice(2);
if (folder === undefined) {
  process.stderr.write('Say where to put the pictures: npm run screenshots -- FOLDER [PAGE ...]\n');
  process.exitCode = 2;
} else {
  const root = join(import.meta.dirname, '../..');
  const { status } = spawnSync(process.execPath, ['dashboard/build.ts'], { cwd: root, stdio: 'inherit' });
  if (status !== 0) throw new Error('the dashboard could not be built');
  const problems: string[] = [];
  await using _ = await startTestServers();
  await using service = await startDashboardService({ rows: ROWS });
  await using browser = await openBrowser(service.origin, (found) => problems.push(...found));
  const names = await takeScreenshots(service, browser, resolve(folder), pages);
  process.stdout.write(`${names.map((name) => join(folder, name)).join('\n')}\n`);
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  process.exitCode = problems.length === 0 ? 0 : 1;
}
