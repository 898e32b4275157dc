import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { freeMemory } from '@gatehouse/http/free-memory';
import { joinBlocks } from '../bodies/byte-blocks.ts';
import type { CountTokens } from '../protocols/protocol.ts';
import { onceFor } from '../tokens/count-time.ts';
import { countWithin } from '../tokens/count-tokens.ts';
import { rememberedCounts } from '../tokens/remembered-counts.ts';
import { type Assignment, READS, type Reply } from './reads.ts';

// The program of a reader thread: it reads one body at a time.

const BELOW_MAIN_THREAD = 10;
/**
 * Of the processor, for the tokens of a body, so that nobody's body keeps others' waiting. It is enough for a million characters of
 * text that people write; random ones take three times as long.
 */
const COUNT_MS = 1_000;

const port = parentPort;
if (!port) throw new Error('this file is for a worker');
// On Linux a priority belongs to a thread. Elsewhere 0 is the whole process, whose priority must stay.
if (process.platform === 'linux') setPriority(0, BELOW_MAIN_THREAD);

const processorMs = () => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
};

port.on('message', async ({ kind, input, owner, blocks }: Assignment) => {
  const read = READS[kind] as (
    body: Buffer,
    given: typeof input,
    count: CountTokens,
  ) => ReturnType<(typeof READS)[typeof kind]>;
  const given = joinBlocks(blocks);
  const { result, body } = await read(
    given,
    input,
    countWithin(onceFor(COUNT_MS, processorMs), rememberedCounts.of(owner)),
  );
  const { buffer } = body;
  const isOwn = buffer.byteLength === body.byteLength;
  const memory = isOwn ? buffer : new Uint8Array(body).buffer;
  port.postMessage({ result, body: memory } satisfies Reply, [memory]);
  // Nothing, where it was moved back.
  freeMemory(given);
});
