import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { organization } from '@gatehouse/contract';
import { runSql } from '@gatehouse/store/testing';
import { duringTests } from '../testing/during-tests.ts';
import { startTestApi } from '../testing/test-api.ts';

describe('GET /members', () => {
  const api = duringTests(startTestApi);

  it('200 with the members in the order of joining, and no other fields of them', async () => {
    const owner = await api.signUp();
    const joined = [
      await api.signUp({ email: 'zoe@example.com', organization: owner.organizationName }),
      await api.signUp({ email: 'abe@example.com', organization: owner.organizationName }),
    ];
    await runSql(api.database)`UPDATE users SET role = 'admin' WHERE email = 'abe@example.com'`;
    const reply = await owner.client.send(organization.listMembers);
    assert.equal(reply.status, 200);
    const { members, ...more } = JSON.parse(reply.text);
    assert.deepEqual(more, {});
    assert.deepEqual(
      members.map(({ user_id, email, role }: Record<string, string>) => [user_id, email, role]),
      [
        [owner.userId, owner.email, 'owner'],
        [joined[0]?.userId, 'zoe@example.com', 'member'],
        [joined[1]?.userId, 'abe@example.com', 'admin'],
      ],
    );
    for (const member of members) {
      assert.deepEqual(Object.keys(member), ['user_id', 'email', 'role', 'joined_at']);
      assert.match(member.joined_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00$/);
    }
    // Every member sees the same.
    for (const { client } of joined)
      assert.deepEqual(await client.call(organization.listMembers), { members });
  });

  it('200 in the same order each time for those who joined at the same moment', async () => {
    const owner = await api.signUp();
    await runSql(api.database)`
      INSERT INTO users (organization_id, email, role, created_at)
      SELECT ${owner.organizationId}, n || '@same.example', 'member', '2026-01-01 00:00:00Z' FROM generate_series(1, 500) AS n`;
    const { members } = await owner.client.call(organization.listMembers);
    assert.equal(members.length, 501);
    const atOnce = members.slice(0, 500).map(({ user_id: id }) => id);
    assert.deepEqual(atOnce, atOnce.toSorted());
    assert.equal(members[0]?.joined_at, '2026-01-01T00:00:00.000000+00:00');
    assert.equal(members[500]?.email, owner.email);
  });

  it('200 with the deactivated as well, and without the deleted', async () => {
    const owner = await api.signUp();
    const idle = await api.signUp({ organization: owner.organizationName });
    const gone = await api.signUp({ organization: owner.organizationName });
    await runSql(api.database)`UPDATE users SET is_active = false WHERE id = ${idle.userId}`;
    await runSql(api.owner)`DELETE FROM users WHERE id = ${gone.userId}`;
    const { members } = await owner.client.call(organization.listMembers);
    assert.deepEqual(
      members.map(({ user_id: id }) => id),
      [owner.userId, idle.userId],
    );
  });

  it('200 with no member of another organisation, whatever the query says', async () => {
    const owner = await api.signUp();
    const other = await api.signUp();
    const { members } = await owner.client.call(organization.listMembers, {
      query: { organization_id: other.organizationId, org: other.organizationName, limit: 'x' },
      headers: { 'x-organization-id': other.organizationId },
    });
    assert.deepEqual(
      members.map(({ user_id: id }) => id),
      [owner.userId],
    );
  });
});
