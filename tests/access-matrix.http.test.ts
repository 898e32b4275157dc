import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import {
  ACCESS_COOKIE,
  alerts,
  type Endpoint,
  endpoints,
  keys,
  organization,
  pathParameters,
  REFRESH_COOKIE,
  ROLES,
  spendLimits,
  vault,
} from '@gatehouse/contract';
import {
  type ApiClient,
  comparable,
  type Given,
  NOW,
  type SignedUp,
  startAnalyticsApi,
  type TestApi,
} from '@gatehouse/control-plane/testing';
import { newRequestId } from '@gatehouse/gateway/testing';
import { runSql } from '@gatehouse/store/testing';

// Every endpoint of the contract: no access without a session, no access to another organisation, and
// identical answers for foreign, unknown and malformed ids.

/** The ids that a request to an endpoint names, by their place in it. */
function idsOf(endpoint: Endpoint): { place: 'params' | 'query' | 'body'; name: string }[] {
  const isId = (name: string) => name === 'project_id' || name === 'key_id';
  return [
    ...pathParameters(endpoint.path).map((name) => ({ place: 'params' as const, name })),
    ...Object.keys(endpoint.query.shape)
      .filter(isId)
      .map((name) => ({ place: 'query' as const, name })),
    ...Object.keys(endpoint.body?.shape ?? {})
      .filter(isId)
      .map((name) => ({ place: 'body' as const, name })),
  ];
}

/** The rest of a valid request, so that only its ids can be wrong. */
const bodies: Readonly<Record<string, Record<string, unknown>>> = {
  createKey: { name: 'a key' },
  updateKey: { rate_limit_rpm: 60 },
  rotateKey: {},
  createSpendLimit: { scope: { kind: 'organization' }, window: 'day', limit_pkr: 1 },
  updateSpendLimit: { limit_pkr: 1 },
  createAlertChannel: { kind: 'webhook', url: 'https://hooks.example.com/' },
};

const queries: Readonly<Record<string, Record<string, string>>> = {
  listSessions: { metadata: 'session-id' },
};

const malformed = [
  'not-a-uuid',
  '%00',
  '{A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11}',
  `${randomUUID()} `,
  '0',
  'null',
  '../keys',
];

describe('access matrix', () => {
  let started: Awaited<ReturnType<typeof startAnalyticsApi>>;
  let api: TestApi;
  let own: SignedUp;
  let foreign: SignedUp;
  const foreignIds: Record<string, string> = {};
  const ownIds: Record<string, string> = {};

  before(async () => {
    started = await startAnalyticsApi();
    api = started.api;
    own = await api.signUp();
    foreign = await api.signUp();
    await runSql(
      api.database,
    )`WITH p AS (INSERT INTO providers (name, protocol) VALUES ('openai', 'openai') RETURNING name)
      INSERT INTO provider_credentials (provider, name, position, api_key_env) SELECT name, 'default', 0, 'A_KEY' FROM p`;
    for (const [ids, account] of [
      [ownIds, own],
      [foreignIds, foreign],
    ] as const) {
      const { client } = account;
      const project = (await client.call(organization.listProjects)).projects[0];
      ids['project_id'] = project?.id ?? '';
      ids['key_id'] = (
        await client.call(keys.createKey, { body: { project_id: project?.id, name: 'k' } })
      ).id;
      const limit = { scope: { kind: 'organization' }, window: 'day', limit_pkr: 1 };
      ids['limit_id'] = (await client.call(spendLimits.createSpendLimit, { body: limit })).id;
      const channel = { kind: 'webhook' as const, url: 'https://hooks.example.com/' };
      ids['channel_id'] = (await client.call(alerts.createAlertChannel, { body: channel })).id;
      ids['provider'] = 'openai';
      ids['req_id'] = newRequestId(Number(NOW / 1_000n));
      await started.add(account, [{ requestId: ids['req_id'] }]);
    }
    // Only the other organisation has a stored key for this provider.
    await foreign.client.call(vault.setVaultKey, { body: { provider: 'openai', api_key: 'sk-foreign' } });
  });
  after(() => started[Symbol.asyncDispose]());

  const withIds = (endpoint: Endpoint, ids: Readonly<Record<string, string>>): Given => {
    const given = { params: {}, query: { ...queries[endpoint.name] }, body: bodies[endpoint.name] } as {
      params: Record<string, string>;
      query: Record<string, string>;
      body: Record<string, unknown> | undefined;
    };
    for (const { place, name } of idsOf(endpoint)) {
      if (place === 'body') given.body = { ...given.body, [name]: ids[name] };
      else given[place][name] = ids[name] ?? '';
    }
    return given;
  };

  for (const endpoint of endpoints as readonly Endpoint[]) {
    if (endpoint.access !== 'session') continue;

    it(`401 for ${endpoint.name} without a live session, whatever else is invalid`, async () => {
      const token = own.client.cookies.get(ACCESS_COOKIE);
      const cookies: (string | string[] | undefined)[] = [
        undefined,
        `${ACCESS_COOKIE}=`,
        `${ACCESS_COOKIE}=nonsense`,
        `${ACCESS_COOKIE}=${own.client.cookies.get(REFRESH_COOKIE)}`,
        `${ACCESS_COOKIE}=${token}; ${ACCESS_COOKIE}=${token}`,
        [`${ACCESS_COOKIE}=${token}`, `${ACCESS_COOKIE}=x`],
        `${ACCESS_COOKIE}=${token}x`,
      ];
      for (const cookie of cookies) {
        const reply = await api.anonymous().raw({
          method: endpoint.method,
          path: `/api${endpoint.path.replaceAll(/\{\w+\}/g, 'x')}?limit=-1&time_range=x&key_id=x`,
          headers: cookie === undefined ? {} : { cookie },
          ...(endpoint.body ? { body: 'not json' } : {}),
        });
        assert.deepEqual([reply.status, reply.text], [401, '{"detail":"Unauthorized"}'], String(cookie));
      }
    });

    const { roles } = endpoint;
    if (roles) {
      it(`403 for ${endpoint.name} by a role without the right, whatever else is invalid`, async () => {
        const { client, userId } = await api.signUp({ organization: own.organizationName });
        for (const role of ROLES.filter((one) => !roles.includes(one))) {
          await runSql(api.database)`UPDATE users SET role = ${role} WHERE id = ${userId}`;
          for (const body of ['not json', '{}', '{"name":""}', undefined]) {
            const reply = await client.raw({
              method: endpoint.method,
              path: `/api${endpoint.path}?limit=-1`,
              headers: { cookie: `${ACCESS_COOKIE}=${client.cookies.get(ACCESS_COOKIE)}` },
              ...(body === undefined ? {} : { body }),
            });
            assert.deepEqual(
              [reply.status, reply.text],
              [403, `{"error":"${roles.join(' or ')} role required"}`],
            );
          }
        }
      });
    }

    if (idsOf(endpoint).length === 0) continue;

    it(`404 for ${endpoint.name} with a foreign, unknown or malformed id, all identical`, async () => {
      for (const { name } of idsOf(endpoint)) {
        const answers = new Set<string>();
        const foreignId = foreignIds[name] ?? '';
        for (const id of [foreignId, foreignId.toUpperCase(), randomUUID(), ...malformed]) {
          const reply = await own.client.send(endpoint, withIds(endpoint, { ...ownIds, [name]: id }));
          assert.equal(reply.status, 404, `${name}=${id} answered ${reply.status} ${reply.text}`);
          answers.add(JSON.stringify(comparable(reply)));
        }
        assert.equal(answers.size, 1, [...answers].join('\n'));
      }
    });
  }

  it('leaves the other organisation unchanged', async () => {
    const live = await runSql(api.database)`
      SELECT id FROM api_keys WHERE organization_id = ${foreign.organizationId} AND revoked_at IS NULL`;
    assert.equal(live.length, 1);
    assert.equal((await foreign.client.call(vault.listVaultKeys)).keys.length, 1);
  });

  it('accepts its own id in upper case', async () => {
    const reply = await (own.client as ApiClient).send(keys.revokeKey, {
      params: { key_id: (ownIds['key_id'] ?? '').toUpperCase() },
    });
    assert.equal(reply.status, 200);
  });
});
