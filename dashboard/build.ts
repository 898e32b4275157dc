import { buildDashboard, watchDashboard } from './build/build-dashboard.ts';
import { DashboardBuildError, DIST } from './build/ensure-built.ts';

// `node dashboard/build.ts [FOLDER]`: builds the page if something has changed. `--watch`: builds it again at every change.

const say = (text: string) => process.stdout.write(`${text}\n`);
const [argument = DIST] = process.argv.slice(2);

try {
  if (argument === '--watch') {
    const stopped = new AbortController();
    process.once('SIGINT', () => stopped.abort());
    process.once('SIGTERM', () => stopped.abort());
    say('Watching the sources of the dashboard; Ctrl-C stops.');
    await watchDashboard(
      (errors) => say(errors.length > 0 ? errors.join('\n') : 'Built the dashboard for development.'),
      stopped.signal,
    );
  } else {
    const ms = await buildDashboard(argument);
    say(
      ms === undefined ? 'The dashboard is current.' : `Built the dashboard in ${(ms / 1000).toFixed(1)} s.`,
    );
  }
} catch (error) {
  if (!(error instanceof DashboardBuildError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
