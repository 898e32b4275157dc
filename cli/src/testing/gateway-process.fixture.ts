import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import type { GatewayMessage, ParentMessage } from '../process/gateway-child.ts';
import { tuneCollector } from '../process/gateway-heap.ts';

// A gateway process that behaves as the test asks in the environment it sends.

const MIB = 1024 * 1024;

const report = (message: GatewayMessage) => process.send?.(message);
const retained: object[] = [];
let fullCollections = 0;

/** Members that the types of Node's library leave out. */
type Collection = PerformanceEntry & { readonly detail: { readonly kind: number } };

function countFullCollections(): void {
  const observer = new PerformanceObserver((list) => {
    for (const { detail } of list.getEntries() as Collection[]) {
      if (detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR) fullCollections += 1;
    }
  });
  observer.observe({ entryTypes: ['gc'] });
}

/** Keeps a large answer, and takes 512 MiB in the pieces that a connection brings, each garbage at once. */
async function receive(): Promise<void> {
  retained.push(Buffer.alloc(16 * MIB));
  for (let mib = 0; mib < 512; mib += 1) {
    for (let piece = 0; piece < 16; piece += 1) Buffer.from(new ArrayBuffer(MIB / 16));
    await new Promise(setImmediate);
  }
}

process.on('message', async (message: ParentMessage) => {
  if (message.kind === 'ping') report({ kind: 'pong' });
  if (message.kind === 'metrics') {
    const own = [
      { name: 'asked', series: [[[], message.id]] as const },
      { name: 'full_collections', series: [[[], fullCollections]] as const },
    ];
    report({ kind: 'metrics', id: message.id, metrics: { own, runtime: [] } });
  }
  if (message.kind === 'stop') process.exit(0);
  if (message.kind !== 'listen') return;
  const behaviour = message.environment['BEHAVIOUR'];
  if (behaviour === 'refuse') {
    report({ kind: 'failed', error: { name: 'ConfigError', message: 'not here', code: 'EADDRINUSE' } });
  } else if (behaviour === 'end') {
    process.exit(3);
  } else {
    if (behaviour === 'receive') {
      tuneCollector();
      countFullCollections();
      await receive();
    }
    report({ kind: 'listening', port: message.port || 4711 });
  }
  if (behaviour === 'eat') for (;;) retained.push({ retained: [] });
  // Every message after this one is left unread.
  if (behaviour === 'hang') setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));
});
process.on('disconnect', () => process.exit(0));
