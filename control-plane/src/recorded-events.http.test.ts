import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import {
  type ActivityAction,
  alerts,
  auth,
  type Endpoint,
  endpoints,
  type KeyId,
  keys,
  organization,
  spendLimits,
  vault,
} from '@gatehouse/contract';
import { rawSql, runSql } from '@gatehouse/store/testing';
import { recordsFrom } from './activity/index.ts';
import { revokeKeysAgain } from './keys/index.ts';
import { addRoute } from './testing/add-route.ts';
import type { ApiClient, Given } from './testing/api-client.ts';
import { dumpTables } from './testing/dump-tables.ts';
import { type GoogleApi, newcomer, startGoogleApi } from './testing/google-api.ts';
import { type KeyAccount, signUpForKeys } from './testing/key-account.ts';
import { TEST_PASSWORD, type TestApi } from './testing/test-api.ts';

// Every endpoint that records: its change and its entry commit together or not at all, and what it records is what the
// contract declares, no less and no more.

const ORGANIZATION_LIMIT = { scope: { kind: 'organization' }, window: 'day', limit_pkr: 1 };
const WEBHOOK = { kind: 'webhook' as const, url: 'https://hooks.example.com/alerts' };
const SOURCE_IP = '198.51.100.7';

interface Recording {
  readonly endpoint: Endpoint;
  readonly title: string;
  /** The preparation, and the call. */
  readonly prepare: () => Promise<{ readonly client: ApiClient; readonly given: Given }>;
  /** The events in the order of writing, and who acts: the account, or the platform. */
  readonly events: readonly (readonly [ActivityAction, 'account' | 'platform'])[];
}

describe('recorded events', () => {
  let google: GoogleApi;
  let api: TestApi;
  before(async () => {
    google = await startGoogleApi();
    api = google.api;
    await addRoute(api.database, 'a/one', { provider: 'openai' });
    await runSql(
      api.owner,
    )`INSERT INTO provider_credentials (provider, name, position, api_key_env) VALUES ('openai', 'default', 0, 'A_KEY')`;
    await runSql(api.owner)`
      CREATE FUNCTION refuse_append() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'the append fails'; END $$`;
    await runSql(api.owner)`
      CREATE TRIGGER refuse_append BEFORE INSERT ON activity_events FOR EACH ROW EXECUTE FUNCTION refuse_append()`;
    await failAppends(false);
  });
  after(() => google?.[Symbol.asyncDispose]());

  const withLimit = async () => {
    const { client } = await signUpForKeys(api);
    const { id } = await client.call(spendLimits.createSpendLimit, { body: ORGANIZATION_LIMIT });
    return { client, params: { limit_id: id } };
  };
  const withChannel = async () => {
    const { client } = await signUpForKeys(api);
    const { id } = await client.call(alerts.createAlertChannel, { body: WEBHOOK });
    return { client, params: { channel_id: id } };
  };
  const failAppends = (isFailing: boolean) =>
    runSql(api.owner)`
      ALTER TABLE activity_events ${rawSql(isFailing ? 'ENABLE' : 'DISABLE')} TRIGGER refuse_append`;
  /** Attempts to register count whatever becomes of them; everything else has to be as it was. */
  const everything = async () => {
    await runSql(api.owner)`DELETE FROM registration_attempts`;
    return dumpTables(api.owner);
  };
  const newEvents = (afterCount: bigint) =>
    runSql<{ action: ActivityAction; actor: string | null; organization: string; sourceIp: string }>(
      api.owner,
    )`
      
      SELECT e.action, u.email AS actor, o.name AS organization, e.source_ip
      FROM activity_events e JOIN organizations o ON o.id = e.organization_id
      LEFT JOIN users u ON u.id = e.actor_user_id
      ORDER BY e.occurred_at, e.sequence OFFSET ${afterCount}`;
  const countEvents = async () =>
    (await runSql<{ count: bigint }>(api.owner)`SELECT count(*) AS count FROM activity_events`)[0]?.count ??
    assert.fail();

  const withKey = async () => {
    const account = await signUpForKeys(api);
    const { id } = await account.client.call(keys.createKey, {
      body: { project_id: account.projectId, name: 'a key' },
    });
    return { account, keyId: id };
  };
  const googleCall = async (organizationName?: string, account = newcomer()) => {
    const { idToken } = await google.provider.issue(account);
    const body = {
      credential: idToken,
      ...(organizationName === undefined ? {} : { organization_name: organizationName }),
    };
    return { client: api.anonymous(), given: { body }, account };
  };
  const registration = (organizationName: string) => ({
    client: api.anonymous(),
    given: {
      body: {
        email: `${randomUUID()}@example.com`,
        password: TEST_PASSWORD,
        organization_name: organizationName,
      },
    },
  });
  const vaultKey = { provider: 'openai', api_key: 'sk-a-provider-key' };

  const recordings: readonly Recording[] = [
    {
      endpoint: auth.register,
      title: 'a new organisation',
      prepare: async () => registration(`Org ${randomUUID()}`),
      events: [
        ['member.joined', 'account'],
        ['budget.deposited', 'platform'],
      ],
    },
    {
      endpoint: auth.register,
      title: 'a membership',
      prepare: async () => registration((await api.signUp()).organizationName),
      events: [['member.joined', 'account']],
    },
    {
      endpoint: auth.login,
      title: 'a session',
      prepare: async () => {
        const { email, password, client } = await api.signUp();
        return { client, given: { body: { email, password } } };
      },
      events: [['user.login', 'account']],
    },
    {
      endpoint: auth.google,
      title: 'a new organisation',
      prepare: () => googleCall(`Org ${randomUUID()}`),
      events: [
        ['member.joined', 'account'],
        ['budget.deposited', 'platform'],
        ['user.login', 'account'],
      ],
    },
    {
      endpoint: auth.google,
      title: 'a membership',
      prepare: async () => googleCall((await api.signUp()).organizationName),
      events: [
        ['member.joined', 'account'],
        ['user.login', 'account'],
      ],
    },
    {
      endpoint: auth.google,
      title: 'a session',
      prepare: async () => {
        const { account, client, given } = await googleCall(`Org ${randomUUID()}`);
        await client.call(auth.google, given);
        return googleCall(undefined, account);
      },
      events: [['user.login', 'account']],
    },
    {
      endpoint: auth.logout,
      title: 'the end of a session',
      prepare: async () => ({ client: (await api.signUp()).client, given: {} }),
      events: [['user.logout', 'account']],
    },
    {
      endpoint: organization.renameOrganization,
      title: 'a name',
      prepare: async () => ({
        client: (await api.signUp()).client,
        given: { body: { name: `Renamed ${randomUUID()}` } },
      }),
      events: [['org.renamed', 'account']],
    },
    {
      endpoint: keys.createKey,
      title: 'a key',
      prepare: async () => {
        const { client, projectId }: KeyAccount = await signUpForKeys(api);
        const headers = { 'idempotency-key': randomUUID() };
        return { client, given: { headers, body: { project_id: projectId, name: 'a key' } } };
      },
      events: [['api_key.created', 'account']],
    },
    {
      endpoint: keys.updateKey,
      title: 'a rate',
      prepare: async () => {
        const { account, keyId } = await withKey();
        return {
          client: account.client,
          given: { params: { key_id: keyId }, body: { rate_limit_rpm: 7 } },
        };
      },
      events: [['api_key.updated', 'account']],
    },
    {
      endpoint: keys.rotateKey,
      title: 'a rotation',
      prepare: async () => {
        const { account, keyId } = await withKey();
        return { client: account.client, given: { params: { key_id: keyId }, body: {} } };
      },
      events: [['api_key.rotated', 'account']],
    },
    {
      endpoint: keys.revokeKey,
      title: 'a revocation',
      prepare: async () => {
        const { account, keyId } = await withKey();
        return { client: account.client, given: { params: { key_id: keyId } } };
      },
      events: [['api_key.revoked', 'account']],
    },
    {
      endpoint: spendLimits.createSpendLimit,
      title: 'a spend limit',
      prepare: async () => {
        const account = await signUpForKeys(api);
        return { client: account.client, given: { body: ORGANIZATION_LIMIT } };
      },
      events: [['spend_limit.created', 'account']],
    },
    {
      endpoint: spendLimits.updateSpendLimit,
      title: 'another amount',
      prepare: async () => {
        const { client, params } = await withLimit();
        return { client, given: { params, body: { limit_pkr: 2 } } };
      },
      events: [['spend_limit.updated', 'account']],
    },
    {
      endpoint: spendLimits.deleteSpendLimit,
      title: 'no spend limit any more',
      prepare: async () => {
        const { client, params } = await withLimit();
        return { client, given: { params } };
      },
      events: [['spend_limit.deleted', 'account']],
    },
    {
      endpoint: alerts.createAlertChannel,
      title: 'a channel',
      prepare: async () => ({ client: (await signUpForKeys(api)).client, given: { body: WEBHOOK } }),
      events: [['alert_channel.created', 'account']],
    },
    {
      endpoint: alerts.deleteAlertChannel,
      title: 'no channel any more',
      prepare: async () => {
        const { client, params } = await withChannel();
        return { client, given: { params } };
      },
      events: [['alert_channel.deleted', 'account']],
    },
    {
      endpoint: vault.setVaultKey,
      title: "a provider's key",
      prepare: async () => ({ client: (await api.signUp()).client, given: { body: vaultKey } }),
      events: [['vault_key.set', 'account']],
    },
    {
      endpoint: vault.revokeVaultKey,
      title: "the removal of a provider's key",
      prepare: async () => {
        const { client } = await api.signUp();
        await client.call(vault.setVaultKey, { body: vaultKey });
        return { client, given: { params: { provider: 'openai' } } };
      },
      events: [['vault_key.revoked', 'account']],
    },
  ];

  for (const { endpoint, title, prepare, events } of recordings) {
    it(`500 for ${endpoint.name} (${title}) and nothing changed while the append fails, ${endpoint.status} after that`, async () => {
      const { client, given } = await prepare();
      const call = { ...given, headers: { ...given.headers, 'x-forwarded-for': SOURCE_IP } };
      const before = await everything();
      const eventCount = await countEvents();
      await failAppends(true);
      try {
        await client.refused(endpoint, 500, call);
      } finally {
        await failAppends(false);
      }
      assert.equal(await everything(), before);

      const reply = await client.send(endpoint, call);
      assert.equal(reply.status, endpoint.status, reply.text);
      assert.notEqual(await everything(), before);
      const written = await newEvents(eventCount);
      assert.deepEqual(
        written.map(({ action, actor }) => [action, actor === null ? 'platform' : 'account']),
        events,
      );
      assert.deepEqual(
        [...new Set(written.map(({ sourceIp }) => sourceIp))],
        [SOURCE_IP],
        'the address of the request',
      );
      assert.equal(new Set(written.map((event) => event.organization)).size, 1, 'one organisation');
    });
  }

  it('has a recording of every event that an endpoint declares, and of no other', () => {
    for (const endpoint of endpoints as readonly Endpoint[]) {
      const seen = recordings
        .filter((recording) => recording.endpoint === endpoint)
        .flatMap(({ events }) => events.map(([action]) => action));
      assert.deepEqual([...new Set(seen)].sort(), [...endpoint.records].sort(), endpoint.name);
    }
  });

  it('leaves a key live that an operator revokes again while the append fails', async () => {
    const { keyId } = await withKey();
    const before = await everything();
    await failAppends(true);
    try {
      await assert.rejects(
        revokeKeysAgain(api.owner, [keyId as KeyId], recordsFrom('127.0.0.1')),
        /the append fails/,
      );
    } finally {
      await failAppends(false);
    }
    assert.equal(await everything(), before);
  });
});
