import type { GatewayOrder, GatewayReport } from './gateway-child.ts';

// A gateway process that does nothing but what a test asks for, in the environment of its order.

const report = (message: GatewayReport) => process.send?.(message);
const kept: object[] = [];

process.on('message', (order: GatewayOrder) => {
  if (order.kind === 'ping') report({ kind: 'pong' });
  if (order.kind === 'stop') process.exit(0);
  if (order.kind !== 'listen') return;
  const behaviour = order.environment['BEHAVIOUR'];
  if (behaviour === 'refuse') {
    report({ kind: 'failed', error: { name: 'ConfigFault', message: 'not here', code: 'EADDRINUSE' } });
  } else if (behaviour === 'end') {
    process.exit(3);
  } else {
    report({ kind: 'listening', port: order.port || 4711 });
  }
  if (behaviour === 'eat') for (;;) kept.push({ kept: [] });
  // Every message after this one is left unread.
  if (behaviour === 'hang') setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));
});
process.on('disconnect', () => process.exit(0));
