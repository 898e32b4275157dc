import type { GatewayMessage, ParentMessage } from '../gateway-child.ts';

// A gateway process that behaves as the test asks in the environment it sends.

const report = (message: GatewayMessage) => process.send?.(message);
const retained: object[] = [];

process.on('message', (message: ParentMessage) => {
  if (message.kind === 'ping') report({ kind: 'pong' });
  if (message.kind === 'metrics') {
    const own = [{ name: 'asked', series: [[[], message.id]] as const }];
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
    report({ kind: 'listening', port: message.port || 4711 });
  }
  if (behaviour === 'eat') for (;;) retained.push({ retained: [] });
  // Every message after this one is left unread.
  if (behaviour === 'hang') setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));
});
process.on('disconnect', () => process.exit(0));
