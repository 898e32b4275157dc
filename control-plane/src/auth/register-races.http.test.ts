import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { auth } from '@gatehouse/contract';
import { runSql } from '@gatehouse/store/testing';
import { duringTests } from '../testing/during-tests.ts';
import { startTestApi } from '../testing/test-api.ts';

// As many at once as the line for password hashing takes in.
const AT_ONCE = 20;

describe('POST /auth/register by many at once', () => {
  const api = duringTests(startTestApi);

  const register = (email: string, name: string) =>
    api.anonymous().send(auth.register, {
      body: { email, password: 'a long enough phrase', organization_name: name },
    });

  /** The stored rows of the organisations with these ids. */
  const stored = (ids: readonly string[]) =>
    runSql(api.database)`
      SELECT (SELECT count(*) FROM organizations WHERE id = ANY(${ids})) AS organizations,
      (SELECT count(*) FROM users WHERE organization_id = ANY(${ids})) AS users,
      (SELECT count(*) FROM users WHERE organization_id = ANY(${ids}) AND role = 'owner') AS owners,
      (SELECT count(*) FROM projects WHERE organization_id = ANY(${ids})) AS projects,
      (SELECT count(*) FROM balances WHERE organization_id = ANY(${ids})) AS balances,
      (SELECT count(*) FROM deposits WHERE organization_id = ANY(${ids})) AS deposits,
      (SELECT count(*) FROM activity_events WHERE organization_id = ANY(${ids})) AS events`;

  for (const [title, nameOf] of [
    ['one new name', () => 'Crowd'],
    [
      'one new name in several spellings',
      (n: number) => ['Menge', 'MENGE', ' menge ', 'ｍｅｎｇｅ'][n % 4] ?? '',
    ],
  ] as [string, (n: number) => string][]) {
    it(`201 for each with ${title}: one organisation, one owner`, async () => {
      const replies = await Promise.all(
        Array.from({ length: AT_ONCE }, (_, n) =>
          register(`${n}@${nameOf(0).toLowerCase()}.example`, nameOf(n)),
        ),
      );
      assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([201]));
      const bodies = replies.map(({ text }) => JSON.parse(text));
      const ids = [...new Set(bodies.map((body) => body.organization.id as string))];
      assert.equal(ids.length, 1);
      assert.equal(new Set(bodies.map((body) => body.organization.name)).size, 1);
      assert.equal(bodies.filter((body) => body.user.role === 'owner').length, 1);
      assert.deepEqual(await stored(ids), [
        {
          organizations: 1n,
          users: BigInt(AT_ONCE),
          owners: 1n,
          projects: 1n,
          balances: 1n,
          deposits: 1n,
          events: BigInt(AT_ONCE) + 1n,
        },
      ]);
    });
  }

  for (const [title, nameOf] of [
    ['as many new names', (n: number) => `Alone ${n}`],
    ['one new name', () => 'Twin'],
  ] as [string, (n: number) => string][]) {
    it(`201 for one and 409 for the rest with one address and ${title}`, async () => {
      const email = `only@${nameOf(0).toLowerCase().replace(' ', '')}.example`;
      const replies = await Promise.all(
        Array.from({ length: AT_ONCE }, (_, n) => register(n % 2 ? email : email.toUpperCase(), nameOf(n))),
      );
      const [created, ...more] = replies.filter(({ status }) => status === 201);
      assert.ok(created);
      assert.equal(more.length, 0);
      assert.equal(replies.filter(({ status }) => status === 409).length, AT_ONCE - 1);
      const names = Array.from({ length: AT_ONCE }, (_, n) => nameOf(n));
      const organizations = await runSql<{ id: string }>(api.database)`
        SELECT id FROM organizations WHERE name = ANY(${names})`;
      assert.deepEqual(
        organizations.map(({ id }) => id),
        [JSON.parse(created.text).organization.id],
      );
      assert.deepEqual(await stored(organizations.map(({ id }) => id)), [
        { organizations: 1n, users: 1n, owners: 1n, projects: 1n, balances: 1n, deposits: 1n, events: 2n },
      ]);
    });
  }

  it('503 with Retry-After once the queue for hashing is full, while others are served', async () => {
    const { client } = await api.signUp();
    // Several times as many as the queue holds, so that they arrive faster than they are handled.
    const crowd = Array.from({ length: 100 }, (_, n) => register(`crowd${n}@example.com`, `Crowd ${n}`));
    const others = await Promise.all(Array.from({ length: 5 }, () => client.send(auth.me)));
    const replies = await Promise.all(crowd);
    assert.ok(others.every(({ status }) => status === 200));
    const refused = replies.filter(({ status }) => status === 503);
    assert.ok(refused.length > 0);
    assert.ok(replies.length - refused.length >= 22, 'the queued requests got a permit');
    for (const { status, headers, text } of replies) {
      if (status === 201) continue;
      assert.equal(status, 503);
      assert.equal(headers['retry-after'], '1');
      assert.equal(text, '{"error":"Too many people sign in or register at once. Try again in a moment."}');
    }
    const [left] = await runSql(api.database)`
      SELECT count(*) AS organizations, (SELECT count(*) FROM users WHERE email LIKE 'crowd%') AS users
      FROM organizations WHERE name LIKE 'Crowd %'`;
    const created = BigInt(replies.length - refused.length);
    assert.deepEqual(left, { organizations: created, users: created });
  });
});
