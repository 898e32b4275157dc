import type { NetConnectOpts } from 'node:net';
import { type Fault, type FaultProxy, startFaultProxy } from '../fault-proxy.ts';

// The proxies of a drill, as a process of their own, which can be in a network namespace. Ends with its parent.

/** Commands of the parent, answered in their order. */
export type NetworkRequest =
  | { readonly kind: 'open'; readonly name: string; readonly target: NetConnectOpts; readonly host: string }
  | { readonly kind: 'set'; readonly name: string; readonly fault: Fault };

const proxies = new Map<string, FaultProxy>();

async function answer(request: NetworkRequest): Promise<number> {
  if (request.kind === 'open') {
    const proxy = await startFaultProxy(request.target, { host: request.host });
    proxies.set(request.name, proxy);
    return proxy.port;
  }
  await proxies.get(request.name)?.set(request.fault);
  return 0;
}

process.on('message', (request: NetworkRequest) => {
  void answer(request).then((port) => process.send?.(port));
});
process.on('disconnect', () => process.exit());
process.send?.(0);
