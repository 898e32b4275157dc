import { randomUUID } from 'node:crypto';
import { Agent } from 'node:https';
import { auth, keys, organization } from '@gatehouse/contract';
import { changeThings, nothingTold, type Told } from '../changes-load.ts';
import { setRateLimit } from '../gateway-fleet.ts';
import { BalancedClient } from './balanced-client.ts';
import type { NodesFleet } from './fleet.ts';
import { type Callers, createCallers } from './requests.ts';

const PASSWORD = 'correct horse battery staple';
const RENEWAL_MS = 5 * 60_000;
const NO_RATE_LIMIT = 1_000_000;

/** An organisation of a fleet, whose owner is signed in over the balancer. */
export interface Tenant extends Disposable {
  readonly id: string;
  readonly api: BalancedClient;
  mint(given?: object): Promise<{ readonly id: string; readonly secret: string }>;
}

export async function signUpTenant(fleet: NodesFleet): Promise<Tenant> {
  const credentials = { email: `${randomUUID()}@example.com`, password: PASSWORD };
  const agent = new Agent({ keepAlive: true });
  const api = new BalancedClient(fleet.balancer.api, agent);
  const account = await api.call(auth.register, {
    body: { ...credentials, organization_name: randomUUID() },
  });
  await api.call(auth.login, { body: credentials });
  const renewing = setInterval(() => void api.call(auth.refresh).catch(() => undefined), RENEWAL_MS);
  const project = (await api.call(organization.listProjects)).projects[0];
  return {
    id: account.organization.id,
    api,
    async mint(given = {}) {
      const { id, api_key: secret } = await api.call(keys.createKey, {
        body: { project_id: project?.id, name: 'drill', ...given },
      });
      await fleet.database.run(setRateLimit, { keyId: id, rateLimitRpm: NO_RATE_LIMIT });
      return { id, secret };
    },
    [Symbol.dispose]() {
      clearInterval(renewing);
      agent.destroy();
    },
  };
}

/** Changes of every kind and model requests at once, over the balancer, with all that was acknowledged. */
export interface MixedLoad {
  readonly told: Told;
  readonly callers: Callers;
  readonly keyId: string;
  /** Resolves when every request has ended. Throws what a client found wrong. */
  stop(): Promise<void>;
}

export async function startLoad(
  fleet: NodesFleet,
  tenant: Tenant,
  { callers: callerCount = 8, changers = 2 }: { readonly callers?: number; readonly changers?: number } = {},
): Promise<MixedLoad> {
  const { id: keyId, secret } = await tenant.mint();
  const stopping = new AbortController();
  const { signal } = stopping;
  const told = nothingTold();
  const callers = createCallers(fleet.balancer.gateway);
  const agent = new Agent({ keepAlive: true });
  const change = async () => {
    // A client ends when a request got no answer: another one goes on.
    while (!signal.aborted) {
      const client = new BalancedClient(fleet.balancer.api, agent);
      await changeThings({ client, provider: 'mock', told, signal, onChange: () => undefined });
    }
  };
  const clients = Promise.all([
    callers.keepAsking(secret, callerCount, signal),
    ...Array.from({ length: changers }, change),
  ]);
  // Thrown by stop().
  clients.catch(() => stopping.abort());
  return {
    told,
    callers,
    keyId,
    async stop() {
      stopping.abort();
      try {
        await clients;
      } finally {
        callers[Symbol.dispose]();
        agent.destroy();
      }
    },
  };
}
