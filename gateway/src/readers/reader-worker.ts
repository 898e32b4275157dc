import { parentPort } from 'node:worker_threads';
import { type Assignment, READS, type Reply } from './reads.ts';

// What runs in a reader thread: one body at a time.

const port = parentPort;
if (!port) throw new Error('this file is for a worker');
port.on('message', async ({ kind, endpoint, body }: Assignment) => {
  const result = await READS[kind](Buffer.from(body), endpoint);
  port.postMessage({ result, body } satisfies Reply, [body]);
});
