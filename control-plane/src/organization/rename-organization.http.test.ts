import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { before, describe, it } from 'node:test';
import { activity, auth, organization } from '@gatehouse/contract';
import { runSql } from '@gatehouse/store/testing';
import type { ApiClient } from '../testing/api-client.ts';
import { duringTests } from '../testing/during-tests.ts';
import { type SignedUp, startTestApi, TEST_PASSWORD } from '../testing/test-api.ts';
import { updateOrganizationName } from './queries.ts';

describe('PATCH /organization', () => {
  const api = duringTests(startTestApi);
  let owner: SignedUp;
  before(async () => {
    owner = await api.signUp();
  });

  const rename = (client: ApiClient, name: unknown) =>
    client.send(organization.renameOrganization, { body: { name } });
  const nameOf = async (client: ApiClient) => (await client.call(auth.me)).organization.name;

  it('200 with the new name, which every member sees from then on, and one entry in the log', async () => {
    const member = await api.signUp({ organization: owner.organizationName });
    const name = `Renamed ${randomUUID()}`;
    assert.deepEqual(
      await owner.client.call(organization.renameOrganization, { body: { name: `  ${name}\t` } }),
      {
        id: owner.organizationId,
        name,
      },
    );
    assert.equal(await nameOf(owner.client), name);
    assert.equal(await nameOf(member.client), name);
    const { events } = await member.client.call(activity.listActivity, { query: { limit: 1 } });
    assert.deepEqual(events[0] && { ...events[0], timestamp: '' }, {
      actor: owner.email,
      action: 'org.renamed',
      target: name,
      timestamp: '',
      source_ip: '127.0.0.1',
    });
    // Who joins by the name joins by the new one; the old one is free.
    const [joined, other] = [await api.signUp({ organization: name.toUpperCase() }), await api.signUp()];
    assert.equal(joined.organizationId, owner.organizationId);
    assert.equal((await rename(other.client, owner.organizationName)).status, 200);
  });

  it('200 for the name it has, in this or another case, written down each time', async () => {
    const { client } = await api.signUp();
    const name = `Own ${randomUUID()}`;
    for (const given of [name, name, name.toUpperCase(), name]) {
      assert.deepEqual(
        JSON.parse((await rename(client, given)).text).name,
        given,
        'as it was given, not as it was before',
      );
    }
    const { events } = await client.call(activity.listActivity, { query: { limit: 5 } });
    assert.deepEqual(
      events.map(({ action }) => action),
      ['org.renamed', 'org.renamed', 'org.renamed', 'org.renamed', 'user.login'],
    );
  });

  it('200 for an admin', async () => {
    const { client, userId } = await api.signUp();
    await runSql(api.database)`UPDATE users SET role = 'admin' WHERE id = ${userId}`;
    assert.equal((await rename(client, `Admin ${randomUUID()}`)).status, 200);
  });

  it('403 from the next request of an owner who is one no longer', async () => {
    const { client, userId, organizationName } = await api.signUp();
    await runSql(api.database)`UPDATE users SET role = 'member' WHERE id = ${userId}`;
    const reply = await rename(client, 'x');
    assert.deepEqual([reply.status, reply.text], [403, '{"error":"owner or admin role required"}']);
    assert.equal(await nameOf(client), organizationName);
  });

  it('200 for a name of 255 code points beyond the first plane', async () => {
    const { client } = await api.signUp();
    const name = '😀'.repeat(255);
    const reply = await rename(client, name);
    assert.deepEqual([reply.status, JSON.parse(reply.text).name], [200, name]);
    assert.equal(await nameOf(client), name);
  });

  // The rules themselves are tested with `organizationName`.
  it('400 that names the rule, and the name stays', async () => {
    const before = await nameOf(owner.client);
    for (const [name, about] of [
      ['\u200b ', /blank/],
      ['a<b', /< or >/],
      ['a\u0007', /control/],
      ['\u202eevil', /direction/],
      ['😀'.repeat(256), /255/],
    ] as const) {
      const { error } = await owner.client.refused(organization.renameOrganization, 400, { body: { name } });
      assert.match(String(error), about);
    }
    assert.equal(await nameOf(owner.client), before);
  });

  it('409 for the name of another, however it is written, and nothing is changed or written down', async () => {
    const other = await api.signUp({ organization: 'Straße ﬁn' });
    const count = async () => (await owner.client.call(activity.listActivity)).events.length;
    const [before, name] = [await count(), await nameOf(owner.client)];
    for (const taken of ['Straße ﬁn', ' straße fin ', 'STRASSE FIN', 'Stra\u200bße fin', 'Ｓtraße fin']) {
      assert.deepEqual(
        await owner.client.refused(organization.renameOrganization, 409, { body: { name: taken } }),
        { error: 'Another organisation has this name.' },
      );
    }
    assert.deepEqual([await count(), await nameOf(owner.client)], [before, name]);
    assert.equal(await nameOf(other.client), 'Straße ﬁn'.normalize('NFKC'));
  });

  it('one 200 and one 409 when two take one name at once, in each of 200 rounds', async () => {
    const [one, two] = [await api.signUp(), await api.signUp()];
    for (let round = 0; round < 200; round += 1) {
      const name = `Wanted ${round} ${randomUUID()}`;
      const replies = await Promise.all([rename(one.client, name), rename(two.client, name.toUpperCase())]);
      assert.deepEqual(
        replies.map(({ status }) => status).sort(),
        [200, 409],
        replies.map(({ text }) => text).join(' '),
      );
    }
    const renames = async ({ organizationId }: SignedUp) =>
      (
        await runSql<{ count: bigint }>(api.database)`
          SELECT count(*) AS count FROM activity_events WHERE organization_id = ${organizationId} AND action = 'org.renamed'`
      )[0]?.count ?? 0n;
    assert.equal((await renames(one)) + (await renames(two)), 200n);
  });

  it('never two of one name, and never a 500, when two swap their names', async () => {
    const [one, two] = [await api.signUp(), await api.signUp()];
    const [left, right] = [await nameOf(one.client), await nameOf(two.client)];
    for (let round = 0; round < 5; round += 1) {
      const replies = await Promise.all([rename(one.client, right), rename(two.client, left)]);
      for (const { status, text } of replies)
        assert.ok(status === 200 || status === 409, `${status} ${text}`);
      assert.notEqual(await nameOf(one.client), await nameOf(two.client));
      await rename(one.client, `Away ${randomUUID()}`);
      await rename(two.client, right);
      await rename(one.client, left);
    }
  });

  it('one organisation of the name when some register with it and one renames itself to it', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { client, organizationId } = await api.signUp();
      const name = `Contested ${randomUUID()}`;
      const register = () =>
        api.anonymous().send(auth.register, {
          body: { email: `${randomUUID()}@example.com`, password: TEST_PASSWORD, organization_name: name },
        });
      const [renamed, ...registered] = await Promise.all([rename(client, name), register(), register()]);
      assert.deepEqual(
        registered.map(({ status }) => status),
        [201, 201],
      );
      const [first, second] = registered.map(({ text }) => JSON.parse(text).organization.id);
      assert.equal(first, second);
      assert.equal(renamed.status, first === organizationId ? 200 : 409);
    }
  });

  it('200 for a sign-in while a rename is between its two steps', async () => {
    const { email, organizationId } = await api.signUp();
    await api.database.transaction(async (tx) => {
      await tx.run(updateOrganizationName, { organizationId, name: 'Half-way', nameKey: 'half-way' });
      // A sign-in that waited for the rename's row while it holds the log's head would deadlock.
      const reply = await api.anonymous().send(auth.login, { body: { email, password: TEST_PASSWORD } });
      assert.equal(reply.status, 200);
    });
  });
});
