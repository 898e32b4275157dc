import { parentPort, workerData } from 'node:worker_threads';
import { openRateKeeper } from './rate-keeper.ts';

// The program of the rate keeper's thread, which does nothing else: what keeps its parent busy delays no request.

const { path, secret } = workerData as { readonly path: string; readonly secret: string };
await openRateKeeper({ path, secret: Buffer.from(secret, 'hex'), monotonicMs: () => performance.now() });
parentPort?.postMessage('listening');
