import { parentPort, workerData } from 'node:worker_threads';
import { createHttpClient } from './http-client.ts';

// Clients of analytics on a thread of their own. Each sends its next query when the last is answered, until
// the thread is stopped. It then reports the time of every answer.

interface Account {
  readonly cookie: string;
  readonly keyId: string;
}

const { port, readers, accounts } = workerData as {
  readonly port: number;
  readonly readers: number;
  readonly accounts: readonly Account[];
};

const paths = (keyId: string) => [
  '/analytics/summary?time_range=24h',
  '/analytics/timeseries?time_range=24h&interval=5m&group_by=model',
  '/analytics/requests?time_range=24h',
  '/analytics/summary?time_range=30d',
  '/analytics/timeseries?time_range=30d&interval=1h&group_by=key&metric=latency',
  `/analytics/requests?time_range=7d&key_id=${keyId}&status_category=4xx`,
  '/admin/usage-throttling?time_range=24h',
  '/analytics/requests?time_range=7d&search=cus_00012',
  '/keys',
];

let isOver = false;
parentPort?.once('message', () => {
  isOver = true;
});

const times: number[] = [];

async function read(reader: number): Promise<void> {
  const account = accounts[reader % accounts.length];
  if (!account) throw new Error('there are no accounts');
  using client = createHttpClient(port, account.cookie);
  const queries = paths(account.keyId);
  for (let n = reader; !isOver; n += 1) {
    const path = queries[n % queries.length] ?? '';
    const { status, ms, body } = await client.get(path);
    if (status !== 200) throw new Error(`${path} answered ${status} ${body.toString().slice(0, 200)}`);
    times.push(ms);
  }
}

const all = Promise.all(Array.from({ length: readers }, (_, reader) => read(reader)));
parentPort?.postMessage('reading');
await all;
parentPort?.postMessage(times);
