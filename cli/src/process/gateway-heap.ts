import { flushCompileCache } from 'node:module';
import { totalmem } from 'node:os';
import { setFlagsFromString } from 'node:v8';

// What a request allocates is garbage when it is answered, so the young generation is large. V8 makes objects in the old one at once
// where those that the same code made before were alive at a collection (pretenuring), as those of the requests in flight always
// are. One such object keeps its whole request in memory until a full collection, so pretenuring is off. A full collection marks
// everything that lives, so it waits until the old generation has three times that size. By default there also is one for every 64 MB
// of buffers, such as a connection's reads and the answers of slow readers. With the last two collector options buffers count as the
// other old objects do, and what is new of them is collected with the young generation, as soon as it has 16 MB.
const MIB = 1_048_576;
const MIN_DEFAULT_MB = 64;
const MAX_DEFAULT_MB = 512;
const PARTS_OF_MEMORY = 4;
const MAX_SEMI_SPACE_MB = 64;
const SEMI_SPACES_OF_HEAP = 8;
const COLLECTOR_OPTIONS = [
  '--no-allocation-site-pretenuring',
  '--heap-growing-percent=200',
  '--external-memory-accounted-in-global-limit',
  '--scavenger-max-new-space-capacity-mb=8',
];

/**
 * Sets the garbage collector of this process up for a gateway. To be called once its code is loaded: V8 takes compiled code only from a
 * process with the same options, also that of Node's own modules, so on the command line they cost a start 0.2 s.
 */
export function tuneCollector(): void {
  // What is kept of the code at the end of the process would say that it was compiled with these options.
  flushCompileCache();
  for (const option of COLLECTOR_OPTIONS) setFlagsFromString(option);
}

/**
 * The heap of a gateway where `GATEWAY_HEAP_MB` is not set. API and gateway that share 512 MB were killed by the kernel with a heap of
 * 512 MB, and had at most 461 with a quarter (`npm run drill -- deployment --only small-node`). `bytes` are what the machine or its
 * container has.
 */
export function defaultGatewayHeapMb(
  bytes = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY),
): number {
  return Math.max(MIN_DEFAULT_MB, Math.min(MAX_DEFAULT_MB, Math.floor(bytes / MIB / PARTS_OF_MEMORY)));
}

/** The options of Node for a process that serves the gateway. */
export function gatewayHeapOptions(heapMb: number): string[] {
  const semiSpaceMb = Math.min(MAX_SEMI_SPACE_MB, Math.ceil(heapMb / SEMI_SPACES_OF_HEAP));
  return [`--max-old-space-size=${heapMb}`, `--max-semi-space-size=${semiSpaceMb}`];
}

/**
 * Gives this process the heap of a gateway: the program begins again with the options, under the same process id. Does nothing where it
 * has them, and where the system cannot replace a program.
 */
export function requireGatewayHeap(
  heapMb: number,
  environment: Readonly<Record<string, string | undefined>>,
): void {
  const options = gatewayHeapOptions(heapMb);
  if (process.execve === undefined || options.every((option) => process.execArgv.includes(option))) return;
  // The last of two options of one name counts.
  const line = [process.execPath, ...process.execArgv, ...options, ...process.argv.slice(1)];
  process.execve(process.execPath, line, environment as NodeJS.ProcessEnv);
}
