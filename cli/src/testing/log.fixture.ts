import { openLog } from '../log/log.ts';

// Writes lines of every length to standard output, as fast as they are taken.

const [, , name, count] = process.argv;
const onError = (error: Error) => {
  throw error;
};
const log = openLog('info', onError, { role: 'gateway', process: 2 });
for (let n = 0; n < Number(count); n += 1)
  log.info({ name, n, text: 'x'.repeat((n * 997) % 12_000) }, 'line');
