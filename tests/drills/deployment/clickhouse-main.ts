import { openEmbeddedClickHouse } from '@gatehouse/embedded';
import { startFaultProxy } from '../fault-proxy.ts';

// The engine of the embedded ClickHouse by TCP, in place of a server, for which there is no package. It asks for no password.

const { socketPath } = await openEmbeddedClickHouse({ dataDir: '/var/lib/clickhouse' });
await startFaultProxy({ path: socketPath }, { host: '0.0.0.0', port: 8123 });
