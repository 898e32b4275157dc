import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { freeMemory } from '@gatehouse/http/free-memory';
import { joinBlocks } from '../bodies/byte-blocks.ts';
import { onceFor } from '../tokens/count-time.ts';
import { type Assignment, type Reply, readPart } from './reads.ts';

// The program of a reader thread: it reads one body at a time.

const BELOW_MAIN_THREAD = 10;

const port = parentPort;
if (!port) throw new Error('this file is for a worker');
// On Linux a priority belongs to a thread. Elsewhere 0 is the whole process, whose priority must stay.
if (process.platform === 'linux') setPriority(0, BELOW_MAIN_THREAD);

const processorMs = () => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
};

port.on('message', async ({ blocks, countMs, ...job }: Assignment) => {
  const given = joinBlocks(blocks);
  const read = await readPart(job, given, onceFor(countMs, processorMs), false);
  if (!read) throw new Error(`nothing was read of ${job.kind}`);
  const { result, body, rest } = read;
  const { buffer } = body;
  const isOwn = buffer.byteLength === body.byteLength;
  const memory = isOwn ? buffer : new Uint8Array(body).buffer;
  const moved = rest ? [memory, rest.buffer] : [memory];
  port.postMessage({ result, body: memory, rest } satisfies Reply, moved);
  // Nothing, where it was moved back.
  freeMemory(given);
});
