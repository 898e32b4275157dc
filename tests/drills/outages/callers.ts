import { auth } from '@gatehouse/contract';
import type { Call } from './ask.ts';
import type { Caller } from './load.ts';
import { RATE_RPM, type Stand } from './stand.ts';

// Changes set another rate each time.
const RATES = 1_000;

/** The callers of a stand, with a session of their own. */
export async function callersOf(stand: Stand): Promise<readonly Caller[]> {
  const { service, key, credentials, issuer } = stand;
  const { apiPort, gatewayPort } = service;
  const client = stand.client();
  await client.call(auth.login, { body: credentials });
  const cookie = [...client.cookies].map((pair) => pair.join('=')).join('; ');
  const ofKey = { authorization: `Bearer ${key.secret}` };
  const read = (path: string) => () => ({ port: apiPort, method: 'GET', path, headers: { cookie } }) as const;
  const ofGateway = (path: string) => () =>
    ({ port: gatewayPort, method: 'GET', path, headers: ofKey }) as const;
  return [
    { kind: 'dashboard', atOnce: 1, pauseMs: 400, call: () => ({ port: apiPort, method: 'GET', path: '/' }) },
    { kind: 'session', atOnce: 2, pauseMs: 150, call: read('/api/auth/me') },
    {
      ...{ kind: 'sign-in', atOnce: 1, pauseMs: 1_000 },
      call: () => ({ port: apiPort, method: 'POST', path: '/api/auth/login', body: credentials }),
    },
    {
      ...{ kind: 'change', atOnce: 2, pauseMs: 150 },
      // The address is how its entry in the activity log is found.
      call: (number) => ({
        ...{ port: apiPort, method: 'PATCH', path: `/api/keys/${key.id}` },
        body: { rate_limit_rpm: RATE_RPM + (number % RATES) },
        headers: { cookie, 'x-forwarded-for': addressOf(number) },
      }),
    },
    { kind: 'keys', atOnce: 1, pauseMs: 200, call: read('/api/keys') },
    { kind: 'analytics', atOnce: 1, pauseMs: 200, call: read('/api/analytics/summary?time_range=1h') },
    { kind: 'models', atOnce: 1, pauseMs: 200, call: ofGateway('/v1/models') },
    { kind: 'chat', atOnce: 4, pauseMs: 150, call: () => chatOf(stand, key.secret, false) },
    { kind: 'stream', atOnce: 2, pauseMs: 150, call: () => chatOf(stand, key.secret, true) },
    { kind: 'health', atOnce: 1, pauseMs: 300, call: ofGateway('/healthz') },
    { kind: 'readiness', atOnce: 1, pauseMs: 300, call: ofGateway('/readyz') },
    {
      ...{ kind: 'google', atOnce: 1, pauseMs: 700 },
      call: () => ({
        ...{ port: apiPort, method: 'POST', path: '/api/auth/google' },
        body: { credential: issuer.issue(), organization_name: 'Drill' },
      }),
    },
  ];
}

/** A request to the drill's model. */
export function chatOf({ service }: Stand, secret: string, stream: boolean): Call {
  return {
    ...{ port: service.gatewayPort, method: 'POST', path: '/v1/chat/completions' },
    headers: { authorization: `Bearer ${secret}` },
    body: {
      ...{ model: 'drill/model', max_completion_tokens: 10, stream },
      messages: [{ role: 'user', content: 'Hi' }],
    },
    ...(stream && { end: 'data: [DONE]' }),
  };
}

/** The address that a change of this number comes from. */
export function addressOf(number: number): string {
  return `10.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}`;
}
