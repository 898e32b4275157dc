import { runFiles } from './run-files.ts';

// Runs test files in a process of its own, because Node runs no test runner within another. The arguments are the time limit of a file in
// milliseconds and the files. The output is the report, what failed, and the count as JSON on the last line. The file `never.mjs` is not
// ready, and those whose names end with `alone.mjs` have processes of their own. One file runs at a time.
const [fileMs, ...files] = process.argv.slice(2);
const { seconds, failures, ...count } = await runFiles(files, {
  root: '/',
  concurrency: 1,
  needsProcess: (file) => file.endsWith('alone.mjs'),
  fileMs: Number(fileMs),
  write: (report) => process.stdout.write(report),
  isReady: async (file) => !file.endsWith('never.mjs'),
});
process.stdout.write(`Failed:\n${failures.join('')}`);
process.stdout.write(`${JSON.stringify({ ...count, timed: seconds.size })}\n`);
