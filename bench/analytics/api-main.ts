import { BlockList } from 'node:net';
import { createControlPlane, readDashboard } from '@gatehouse/control-plane';
import { createTelemetryClient, fixedKeyRing, openDatabase, SERVICE_ROLE } from '@gatehouse/store';
import { destination, pino } from 'pino';
import type { ApiOptions } from './api-process.ts';

// The control plane over HTTP, on stores that another process runs. It exits when that process disconnects.

const options = JSON.parse(process.argv[2] ?? '') as ApiOptions;

async function main(): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const database = stack.use(openDatabase({ ...options.control, user: SERVICE_ROLE }));
  const telemetry = stack.adopt(
    createTelemetryClient(options.telemetry, { database: options.telemetryDatabase }),
    (client) => client.close(),
  );
  const files = options.dashboard === undefined ? undefined : await readDashboard(options.dashboard);
  const server = createControlPlane({
    database,
    telemetry,
    // It logs like the service, to nowhere.
    log: pino({ level: 'info' }, destination({ dest: '/dev/null', sync: false })),
    keyRing: fixedKeyRing([]),
    nowMicros: () => BigInt(options.nowMicros),
    dashboard: files && (() => files),
    settings: {
      allowedOrigins: new Set(),
      allowedHosts: new Set(),
      trustedProxyHops: 0,
      trustedProxies: new BlockList(),
      joinPolicy: 'closed',
      signupCreditMicroPkr: 0n,
      google: undefined,
      oidc: undefined,
      passwordSignIn: true,
      publicUrl: undefined,
      alerts: { webhookHosts: new Set(), smtp: undefined },
      signInAttempts: 10,
      signInWindowSeconds: 900,
      registrationsPerNetwork: 20,
      registrationsPerHour: 1_000,
      keysPerOrganization: 10_000,
      rateLimitCeilingRpm: 6_000,
      analyticsTimeoutMs: options.timeoutMs ?? 10_000,
      gateway: { url: () => undefined, port: () => undefined },
    },
  });
  stack.defer(() => server.close());
  await server.listen({ host: '127.0.0.1', port: 0 });
  const gone = new Promise((resolve) => process.on('disconnect', resolve));
  process.send?.({ port: (server.server.address() as { port: number }).port });
  await gone;
}

await main();
