import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { auth, organization, Secret } from '@gatehouse/contract';
import { createTelemetryClient, fixedKeyRing } from '@gatehouse/store';
import { TEST_MASTER_KEY } from '@gatehouse/store/testing';
import { pino } from 'pino';
import { recordsFrom } from '../activity/index.ts';
import { createControlPlane } from '../app.ts';
import { ApiClient } from '../testing/api-client.ts';
import { startTestApi, TEST_PASSWORD, TEST_SETTINGS, type TestApi } from '../testing/test-api.ts';
import { deactivateAccount, setPassword } from './index.ts';

// No process caches sessions: a change on one node applies on every other from the next request.

describe('two nodes on one database', () => {
  const stack = new AsyncDisposableStack();
  let api: TestApi;
  let otherPort: number;
  before(async () => {
    api = stack.use(await startTestApi());
    const other = createControlPlane({
      database: api.database,
      telemetry: stack.adopt(createTelemetryClient({ url: 'http://127.0.0.1:1' }), (client) =>
        client.close(),
      ),
      log: pino({ level: 'silent' }),
      settings: TEST_SETTINGS,
      keyRing: fixedKeyRing([TEST_MASTER_KEY]),
    });
    stack.defer(() => other.close());
    await other.listen({ host: '127.0.0.1', port: 0 });
    otherPort = (other.server.address() as { port: number }).port;
  });
  after(() => stack.disposeAsync());

  /** The same browser, on the other node. */
  const onOther = (client: ApiClient) => {
    const other = new ApiClient(otherPort);
    for (const [name, value] of client.cookies) other.cookies.set(name, value);
    return other;
  };

  it('401 on both from the next request after a logout on one, for the access and the refresh cookie', async () => {
    const { client } = await api.signUp();
    const [here, there] = [client.copy(), onOther(client)];
    assert.equal((await there.send(auth.me)).status, 200);
    await client.call(auth.logout);
    for (const saved of [here, there]) {
      await saved.refused(auth.me, 401);
      await saved.refused(auth.refresh, 401);
    }
  });

  it('401 on both from the next request after an account was deactivated', async () => {
    const { organizationName } = await api.signUp();
    const { client, email } = await api.signUp({ organization: organizationName });
    const there = onOther(client);
    await there.call(auth.me);
    await deactivateAccount(api.owner, email, recordsFrom('127.0.0.1'));
    for (const saved of [client, there]) {
      await saved.refused(auth.me, 401);
      await saved.refused(auth.refresh, 401);
    }
    const body = { email, password: TEST_PASSWORD };
    for (const node of [api.anonymous(), new ApiClient(otherPort)])
      await node.refused(auth.login, 401, { body });
  });

  it('401 on both with the old sessions and the old password once a new one is set', async () => {
    const { client, email } = await api.signUp();
    const there = onOther(client);
    await setPassword(api.owner, email, new Secret('quite another passphrase'));
    await there.refused(auth.me, 401);
    await new ApiClient(otherPort).refused(auth.login, 401, { body: { email, password: TEST_PASSWORD } });
    await api.anonymous().call(auth.login, { body: { email, password: 'quite another passphrase' } });
  });

  it('429 on both once the failures on both together reach the limit', async () => {
    const { email } = await api.signUp();
    const wrong = { body: { email, password: 'wrong password' } };
    for (let n = 0; n < TEST_SETTINGS.signInAttempts; n += 1)
      await new ApiClient(n % 2 === 0 ? api.port : otherPort).refused(auth.login, 401, wrong);
    for (const node of [api.anonymous(), new ApiClient(otherPort)])
      await node.refused(auth.login, 429, { body: { email, password: TEST_PASSWORD } });
  });

  it('200 on both with the new name after a rename on one', async () => {
    const { client } = await api.signUp();
    const there = onOther(client);
    await client.call(organization.renameOrganization, { body: { name: 'Known to both' } });
    assert.equal((await there.call(auth.me)).organization.name, 'Known to both');
  });
});
