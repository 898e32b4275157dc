import { buildDashboard, DashboardBuildError, watchDashboard } from './build/build-dashboard.ts';

// `node dashboard/build.ts`: builds the page if something has changed. `--watch`: builds it again at every change.

const say = (text: string) => process.stdout.write(`${text}\n`);

try {
  if (process.argv.includes('--watch')) {
    const stopped = new AbortController();
    process.once('SIGINT', () => stopped.abort());
    process.once('SIGTERM', () => stopped.abort());
    say('Watching the sources of the dashboard; Ctrl-C stops.');
    await watchDashboard(
      (errors) => say(errors.length > 0 ? errors.join('\n') : 'Built the dashboard for development.'),
      stopped.signal,
    );
  } else {
    const ms = await buildDashboard();
    say(
      ms === undefined ? 'The dashboard is current.' : `Built the dashboard in ${(ms / 1000).toFixed(1)} s.`,
    );
  }
} catch (error) {
  if (!(error instanceof DashboardBuildError)) throw error;
  process.stderr.write(`The dashboard cannot be built: ${error.message}\n`);
  process.exitCode = 1;
}
