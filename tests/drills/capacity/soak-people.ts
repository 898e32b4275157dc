import { activity, analytics, auth, type Endpoint, keys } from '@gatehouse/contract';
import { ApiClient, type Given } from '@gatehouse/control-plane/testing';
import { PASSWORD, type SoakOrganization } from './soak-service.ts';

// People work while the requests run: keys change, analytics are read, sessions begin, are renewed and end. Each at its
// own interval.

export interface People {
  /** The number of actions so far, by name. */
  readonly done: ReadonlyMap<string, number>;
  /** Calls that answered otherwise than expected. */
  readonly failures: readonly string[];
  stop(): Promise<void>;
}

const CREDENTIALS = (email: string) => ({ email, password: PASSWORD });

export function startPeople(apiPort: number, organizations: readonly SoakOrganization[]): People {
  const done = new Map<string, number>();
  const failures: string[] = [];
  const running = new Set<Promise<void>>();
  const timers: NodeJS.Timeout[] = [];
  let turn = 0;
  const nextOrganization = () => {
    turn += 1;
    return organizations[turn % organizations.length] as SoakOrganization;
  };
  const count = (name: string) => done.set(name, (done.get(name) ?? 0) + 1);

  const every = (seconds: number, name: string, act: () => Promise<void>) => {
    let isRunning = false;
    timers.push(
      setInterval(() => {
        if (isRunning) return;
        isRunning = true;
        const work = act()
          .then(() => void count(name))
          .catch((error: unknown) => void failures.push(`${name}: ${error}`))
          .finally(() => {
            isRunning = false;
            running.delete(work);
          });
        running.add(work);
      }, seconds * 1_000),
    );
  };

  every(3, 'keys minted, changed and revoked', async () => {
    const { api, projectId } = nextOrganization();
    const { id } = await api.call(keys.createKey, { body: { project_id: projectId, name: 'short-lived' } });
    await api.call(keys.updateKey, { params: { key_id: id }, body: { rate_limit_rpm: 60 } });
    await api.call(keys.revokeKey, { params: { key_id: id } });
  });
  every(2, 'keys listed', async () => {
    await nextOrganization().api.call(keys.listKeys);
  });
  const queries: readonly (readonly [Endpoint, Given])[] = [
    [analytics.getSummary, { query: { time_range: '1h' } }],
    [analytics.getTimeseries, { query: { time_range: '1h', metric: 'latency', interval: '1m' } }],
    [analytics.listRequests, { query: { time_range: '1h', limit: 50 } }],
    [analytics.getTrend, { query: { time_range: '1h', interval: '5m' } }],
    [analytics.getSpend, { query: { time_range: '24h', group_by: 'key' } }],
  ];
  let query = 0;
  every(1, 'analytics queries', async () => {
    query += 1;
    const [endpoint, given] = queries[query % queries.length] ?? [analytics.getSummary, {}];
    await nextOrganization().api.call(endpoint, given);
  });
  every(5, 'pages of the activity log', async () => {
    await nextOrganization().api.call(activity.listActivity);
  });
  every(60, 'sessions renewed', async () => {
    for (const { api } of organizations) await api.call(auth.refresh);
  });
  every(10, 'sign-ins and sign-outs', async () => {
    const api = new ApiClient(apiPort);
    await api.call(auth.login, { body: CREDENTIALS(nextOrganization().email) });
    await api.call(auth.logout);
  });
  let visitors = 0;
  every(20, 'sessions that stay', async () => {
    const api = new ApiClient(apiPort);
    await api.call(auth.login, { body: CREDENTIALS(nextOrganization().email) });
    await api.call(auth.refresh);
  });
  every(30, 'wrong passwords', async () => {
    visitors += 1;
    const body = { email: `nobody-${visitors % 100}@soak.example`, password: 'wrong password, surely' };
    await new ApiClient(apiPort).refused(auth.login, 401, { body });
  });
  return {
    done,
    failures,
    async stop() {
      for (const timer of timers) clearInterval(timer);
      await Promise.all(running);
    },
  };
}
