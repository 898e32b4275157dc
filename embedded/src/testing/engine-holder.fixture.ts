/** A process that opens the engine of a directory and reports its events until it gets a message. */
import { openEmbeddedClickHouse } from '../clickhouse/index.ts';

const [dataDir = ''] = process.argv.slice(2);
const engine = await openEmbeddedClickHouse({ dataDir, onEvent: (event) => process.send?.(event) });
process.send?.({ kind: 'opened', role: engine.role(), pid: engine.enginePid() });
process.once('message', async () => {
  await engine[Symbol.asyncDispose]();
  process.disconnect();
});
