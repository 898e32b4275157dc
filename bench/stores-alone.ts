import { once } from 'node:events';
import { openEmbeddedClickHouse, openEmbeddedPostgres } from '@gatehouse/embedded';

// The reference of bench/start.ts: the two embedded stores and nothing else, until SIGTERM.

const dataDir = process.argv[2];
if (dataDir === undefined) throw new Error('usage: stores-alone.ts DATA_DIR');

const stop = once(process, 'SIGTERM');
await using stack = new AsyncDisposableStack();
const opened = await Promise.all([openEmbeddedPostgres({ dataDir }), openEmbeddedClickHouse({ dataDir })]);
for (const store of opened) stack.use(store);
process.stdout.write('ready\n');
await stop;
