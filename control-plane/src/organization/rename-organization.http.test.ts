import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { activity, auth, organization } from '@gatehouse/contract';
import type { ApiClient } from '../testing/api-client.ts';
import { sql } from '../testing/sql.ts';
import { type SignedUp, startTestApi, TEST_PASSWORD, type TestApi } from '../testing/test-api.ts';
import { updateOrganizationName } from './queries.ts';

describe('PATCH /organization', () => {
  let api: TestApi;
  let owner: SignedUp;
  before(async () => {
    api = await startTestApi();
    owner = await api.signUp();
  });
  after(() => api[Symbol.asyncDispose]());

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
    await sql(api.database, `UPDATE users SET role = 'admin' WHERE id = $1`, [userId]);
    assert.equal((await rename(client, `Admin ${randomUUID()}`)).status, 200);
  });

  it('403 from the next request of an owner who is one no longer', async () => {
    const { client, userId, organizationName } = await api.signUp();
    await sql(api.database, `UPDATE users SET role = 'member' WHERE id = $1`, [userId]);
    const reply = await rename(client, 'x');
    assert.deepEqual([reply.status, reply.text], [403, '{"error":"owner or admin role required"}']);
    assert.equal(await nameOf(client), organizationName);
  });

  for (const name of [
    '😀'.repeat(255),
    'ä'.repeat(255),
    '＜b＞',
    'Ünïcode & Söhne "quoted" \'s',
    'النور',
    '日本',
    "'; DROP TABLE organizations; --",
  ]) {
    it(`200 for ${name.slice(0, 40)} (${[...name].length} code points)`, async () => {
      const { client } = await api.signUp();
      const reply = await rename(client, name);
      assert.deepEqual([reply.status, JSON.parse(reply.text).name], [200, name]);
      assert.equal(await nameOf(client), name);
    });
  }

  for (const [name, what] of [
    ['', 'blank'],
    [' \t\n', 'blank'],
    ['\u00a0\u2003', 'blank'],
    ['\u200b', 'blank'],
    ['\u3164\u2060', 'blank'],
    ['a<b', '< or >'],
    ['>', '< or >'],
    ['<script>alert(1)</script>', '< or >'],
    ['a\nb', 'control'],
    ['a\u0007', 'control'],
    ['a\u009bb', 'control'],
    ['a\u2028b', 'control'],
    ['\u202eevil', 'direction'],
    ['a\u2066b', 'direction'],
    ['😀'.repeat(256), '255'],
    ['x'.repeat(256), '255'],
    ['ﷺ'.repeat(100), '255'],
  ] as const) {
    it(`400 for ${JSON.stringify(name.slice(0, 30))}: ${what}`, async () => {
      const before = await nameOf(owner.client);
      const reply = await rename(owner.client, name);
      assert.equal(reply.status, 400);
      const { error } = JSON.parse(reply.text);
      assert.match(error, new RegExp(what), 'names the rule');
      assert.equal(await nameOf(owner.client), before);
    });
  }

  for (const body of [
    {},
    { name: null },
    { name: 5 },
    { name: ['a'] },
    { name: 'a\u0000b' },
    { name: '\ud800' },
  ]) {
    it(`400 with what was wrong for ${JSON.stringify(body)}`, async () => {
      const { detail } = (await owner.client.refused(organization.renameOrganization, 400, { body })) as {
        detail: { loc: unknown }[];
      };
      assert.deepEqual(
        detail.map(({ loc }) => loc),
        [['body', 'name']],
      );
    });
  }

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
        await sql<{ count: bigint }>(
          api.database,
          `SELECT count(*) AS count FROM activity_events WHERE organization_id = $1 AND action = 'org.renamed'`,
          [organizationId],
        )
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
