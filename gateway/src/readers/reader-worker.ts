import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { freeMemory } from '@gatehouse/http/free-memory';
import { joinBlocks } from '../bodies/byte-blocks.ts';
import { type Assignment, READS, type Reply } from './reads.ts';

// The program of a reader thread: it reads one body at a time.

const BELOW_MAIN_THREAD = 10;

const port = parentPort;
if (!port) throw new Error('this file is for a worker');
// On Linux a priority belongs to a thread. Elsewhere 0 is the whole process, whose priority must stay.
if (process.platform === 'linux') setPriority(0, BELOW_MAIN_THREAD);
port.on('message', async ({ kind, input, blocks, countMs }: Assignment) => {
  const read = READS[kind] as (
    body: Buffer,
    given: typeof input,
    countMs: number,
  ) => ReturnType<(typeof READS)[typeof kind]>;
  const given = joinBlocks(blocks);
  const { result, body, uncounted } = await read(given, input, countMs);
  const { buffer } = body;
  const isOwn = buffer.byteLength === body.byteLength;
  const memory = isOwn ? buffer : new Uint8Array(body).buffer;
  const texts = uncounted && { ...uncounted, bytes: uncounted.bytes.buffer };
  const moved = texts ? [memory, texts.bytes] : [memory];
  port.postMessage({ result, body: memory, uncounted: texts } satisfies Reply, moved);
  // Nothing, where it was moved back.
  freeMemory(given);
});
