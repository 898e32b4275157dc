import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { activity } from '@gatehouse/contract';
import { runSql } from '@gatehouse/store/testing';
import { duringTests } from '../testing/during-tests.ts';
import { type SignedUp, startTestApi } from '../testing/test-api.ts';
import { recordsFrom } from './index.ts';

describe('GET /activity', () => {
  const api = duringTests(startTestApi);

  const write = ({ organizationId, userId }: SignedUp, target: string) =>
    api.database.transaction((tx) =>
      recordsFrom('192.0.2.1')({ organizationId, actorUserId: userId })(tx, 'org.renamed', target),
    );
  /** Puts `count` entries before whatever comes next: `entry 1` is the oldest of them. */
  const writeMany = ({ organizationId, userId }: SignedUp, count: number) =>
    runSql(api.database)`
      SELECT append_activity(${organizationId}, ${userId}, 'org.renamed', 'entry ' || n, '192.0.2.1') FROM generate_series(1, ${count}::integer) AS n`;

  /** Writes from several sides until stopped. */
  const startWriters = (account: SignedUp, count: number) => {
    let isStopped = false;
    let written = Promise.withResolvers<void>();
    const writing = Promise.all(
      Array.from({ length: count }, async (_, writer) => {
        for (let n = 0; !isStopped; n += 1) {
          await write(account, `new ${writer}-${n}`);
          written.resolve();
        }
      }),
    );
    return {
      /** Resolves once an entry has been committed after this call. */
      nextWrite: () => {
        written = Promise.withResolvers<void>();
        return Promise.race([written.promise, writing]);
      },
      stop: async () => {
        isStopped = true;
        await writing;
      },
    };
  };

  it('200 with what happened, newest first', async () => {
    const someone = await api.signUp();
    await write(someone, 'New name');
    const reply = await someone.client.send(activity.listActivity);
    assert.equal(reply.status, 200);
    const { events, ...page } = JSON.parse(reply.text);
    assert.deepEqual(page, { limit: 50, offset: 0 });
    assert.deepEqual(
      events.map(({ timestamp, ...event }: Record<string, unknown>) => {
        assert.match(String(timestamp), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00$/);
        return event;
      }),
      [
        { actor: someone.email, action: 'org.renamed', target: 'New name', source_ip: '192.0.2.1' },
        { actor: someone.email, action: 'user.login', target: someone.email, source_ip: '127.0.0.1' },
        { actor: null, action: 'budget.deposited', target: '1000.00 PKR', source_ip: '127.0.0.1' },
        { actor: someone.email, action: 'member.joined', target: someone.email, source_ip: '127.0.0.1' },
      ],
    );
    const times = events.map((event: { timestamp: string }) => event.timestamp);
    assert.deepEqual(times, times.toSorted().reverse());
  });

  it('200 page by page, the last of which is short', async () => {
    const someone = await api.signUp();
    await writeMany(someone, 247);
    const page = (query: Record<string, string | number>) =>
      someone.client.call(activity.listActivity, { query });
    const targets = async (query: Record<string, string | number>) =>
      (await page(query)).events.map(({ target }) => target);
    const all = Array.from({ length: 247 }, (_, n) => `entry ${247 - n}`);
    assert.deepEqual(await targets({}), all.slice(0, 50));
    assert.deepEqual(await targets({ limit: 1 }), ['entry 247']);
    assert.deepEqual(await targets({ limit: 200 }), all.slice(0, 200));
    assert.deepEqual(await targets({ limit: 10, offset: 5 }), all.slice(5, 15));
    // 247 and the three of signing up.
    assert.equal((await targets({ limit: 200, offset: 200 })).length, 50);
    assert.equal((await targets({ limit: 200, offset: 249 })).length, 1);
    for (const offset of [250, 1_000_000, Number.MAX_SAFE_INTEGER])
      assert.deepEqual(await page({ offset }), { events: [], limit: 50, offset });
    assert.deepEqual(await targets({ limit: 999_999 }), all.slice(0, 200));
    assert.equal((await page({ limit: 999_999 })).limit, 200);
    assert.deepEqual(await page({ limit: '', offset: ' ' }), await page({}));
    assert.deepEqual(await page({ foo: 1, 'limit[]': 1, until_x: 'x' }), await page({}));
  });

  // `contract/src/conventions/paging.test.ts` has every value.
  it('400 for a limit or an offset that is not a number of entries', async () => {
    const { client } = await api.signUp();
    for (const [name, value] of [
      ['limit', '0'],
      ['offset', '-1'],
    ] as const) {
      const { detail } = await client.refused(activity.listActivity, 400, { query: { [name]: value } });
      assert.deepEqual(
        (detail as { loc: string[] }[]).map(({ loc }) => loc),
        [['query', name]],
      );
    }
  });

  it('200 with nothing of another organisation, and with everything of its own, whichever member acted', async () => {
    const owner = await api.signUp();
    const stranger = await api.signUp();
    await write(stranger, 'foreign');
    const member = await api.signUp({ organization: owner.organizationName });
    await write(owner, 'by the owner');
    await write(member, 'by the member');
    const seen = await owner.client.call(activity.listActivity);
    assert.deepEqual(await member.client.call(activity.listActivity), seen);
    assert.deepEqual(seen.events.map(({ actor, target }) => [actor, target]).slice(0, 4), [
      [member.email, 'by the member'],
      [owner.email, 'by the owner'],
      [member.email, member.email],
      [member.email, member.email],
    ]);
    assert.ok(!JSON.stringify(seen).includes('foreign') && !JSON.stringify(seen).includes(stranger.email));
  });

  it('200 with the current address of an actor, and null once the account is deleted', async () => {
    const owner = await api.signUp();
    const member = await api.signUp({ organization: owner.organizationName });
    const actors = async () =>
      (await owner.client.call(activity.listActivity)).events
        .filter(({ target }) => target === member.email)
        .map(({ actor, action }) => [actor, action]);
    assert.deepEqual(await actors(), [
      [member.email, 'user.login'],
      [member.email, 'member.joined'],
    ]);
    await runSql(api.database)`UPDATE users SET is_active = false WHERE id = ${member.userId}`;
    assert.equal((await actors())[0]?.[0], member.email);
    await runSql(api.database)`UPDATE users SET email = 'moved@example.com' WHERE id = ${member.userId}`;
    assert.equal((await actors())[0]?.[0], 'moved@example.com');
    await runSql(api.owner)`DELETE FROM users WHERE id = ${member.userId}`;
    assert.deepEqual(await actors(), [
      [null, 'user.login'],
      [null, 'member.joined'],
    ]);
    // A later account with the address is a different actor.
    const again = await api.signUp({ email: 'moved@example.com', organization: owner.organizationName });
    assert.notEqual(again.userId, member.userId);
    assert.equal((await actors())[0]?.[0], null);
  });

  it('200 without a gap among the entries that existed when paging began, while others write', async () => {
    const reader = await api.signUp();
    await writeMany(reader, 400);
    const writers = startWriters(reader, 4);
    const seen = new Set<number>();
    let repeated = 0;
    for (let offset = 0; ; offset += 40) {
      if (offset > 0) await writers.nextWrite();
      const { events } = await reader.client.call(activity.listActivity, { query: { limit: 40, offset } });
      const old = events.flatMap(({ target }) => /^entry (\d+)$/.exec(target)?.[1] ?? []).map(Number);
      // In order within a page. From page to page entries repeat, because new ones shift them.
      for (const [n, number] of old.entries()) if (n > 0) assert.equal(number, (old[n - 1] ?? 0) - 1);
      const lowest = Math.min(...seen, 401);
      if (old[0] !== undefined) assert.ok(old[0] >= lowest - 1, `${old[0]} follows ${lowest}`);
      repeated += old.filter((number) => seen.has(number)).length;
      for (const number of old) seen.add(number);
      if (events.length < 40) break;
    }
    await writers.stop();
    assert.equal(seen.size, 400);
    assert.ok(repeated >= 10, `entries were written between the pages: ${repeated} repeated`);
  });

  it('200 page by page with each entry once, up to the first page’s first, while others write', async () => {
    const reader = await api.signUp();
    await writeMany(reader, 400);
    const writers = startWriters(reader, 8);
    const page = async (offset: number, until?: string) =>
      (
        await reader.client.call(activity.listActivity, {
          query: { limit: 37, offset, ...(until === undefined ? {} : { until }) },
        })
      ).events;
    const seen = await page(0);
    const until = seen[0]?.timestamp ?? assert.fail();
    for (let next = seen; next.length === 37; seen.push(...next)) {
      await writers.nextWrite();
      next = await page(seen.length, until);
    }
    await writers.stop();
    assert.deepEqual(await page(0, until), seen.slice(0, 37), 'no entry came before the first');
    const newest = (await page(0))[0]?.timestamp ?? assert.fail();
    assert.ok(newest > until, 'entries were written while the pages were read');
    const later = await runSql<{ target: string }>(api.database)`
      SELECT target FROM activity_events WHERE organization_id = ${reader.organizationId} AND occurred_at <= ${until} ORDER BY sequence DESC`;
    assert.deepEqual(
      seen.map(({ target }) => target),
      later.map(({ target }) => target),
    );
  });

  it('200 up to a time in any form that names one, with nothing before the first entry', async () => {
    const { client } = await api.signUp();
    const { events } = await client.call(activity.listActivity);
    const count = async (until: string) =>
      (await client.call(activity.listActivity, { query: { until } })).events.length;
    for (const [index, { timestamp }] of events.entries()) {
      for (const form of [timestamp, timestamp.replace('+00:00', 'Z'), timestamp.replace('+', ' ')])
        assert.equal(await count(form), events.length - index, form);
    }
    assert.equal(await count('2000-01-01T00:00:00Z'), 0);
    assert.equal(await count('9999-12-31T23:59:59+00:00'), events.length);
    assert.equal(await count(' '), events.length);
    for (const until of ['yesterday', '2026-02-30T00:00:00Z', '2026-11-20', '0', '+275760-09-13T00:00:00Z']) {
      const { detail } = (await client.refused(activity.listActivity, 400, { query: { until } })) as {
        detail: { loc: unknown }[];
      };
      assert.deepEqual(detail[0]?.loc, ['query', 'until']);
    }
  });

  it('200 with times in order, even where the clock of the database jumped', async () => {
    const someone = await api.signUp();
    // As if the clock had been ten seconds, or an hour, ahead when the newest entry was written.
    for (const [ahead, isFollowed] of [
      ['10 seconds', true],
      ['1 hour', false],
    ] as const) {
      await runSql(api.owner)`
        UPDATE activity_heads SET last_occurred_at = clock_timestamp() + ${ahead}::interval WHERE organization_id = ${someone.organizationId}`;
      await write(someone, ahead);
      const [row] = await runSql(api.owner)`
        SELECT occurred_at > clock_timestamp() AS "isAhead" FROM activity_events
        WHERE organization_id = ${someone.organizationId} ORDER BY sequence DESC LIMIT 1`;
      assert.deepEqual(row, { isAhead: isFollowed });
    }
  });

  it('200 with any text unchanged', async () => {
    const { client, ...rest } = await api.signUp();
    const targets = [
      '<img src=x onerror=alert(1)>',
      ...'\u001b[2J a\r\nb "\\ 😀\u2028 \u202e null'.split(' '),
    ];
    for (const target of targets) await write({ client, ...rest }, target);
    const { events } = await client.call(activity.listActivity, { query: { limit: targets.length } });
    assert.deepEqual(events.map(({ target }) => target).reverse(), targets);
  });

  it('200 with the events of one kind, or of one account, across pages', async () => {
    const owner = await api.signUp();
    const email = `second.${owner.email}`;
    const colleague = await api.signUp({ organization: owner.organizationName, email });
    for (let n = 0; n < 5; n += 1) {
      await write(owner, `owner ${n}`);
      await write(colleague, `colleague ${n}`);
    }
    const targets = async (query: Record<string, string | number>) =>
      (await owner.client.call(activity.listActivity, { query })).events.map(({ target }) => target);
    const newest = (name: string) => [4, 3, 2, 1, 0].map((n) => `${name} ${n}`);
    assert.deepEqual(await targets({ action: 'org.renamed', actor: email }), newest('colleague'));
    assert.deepEqual(
      await targets({ action: 'org.renamed', actor: ` ${owner.email.toUpperCase()} `, limit: 2, offset: 3 }),
      newest('owner').slice(3),
    );
    assert.deepEqual(await targets({ action: 'budget.deposited' }), ['1000.00 PKR']);
    assert.deepEqual(await targets({ actor: 'nobody@example.com' }), []);
    assert.equal((await targets({ action: ' ', actor: ' ' })).length, (await targets({})).length);
    // An account of another organisation did nothing here.
    const stranger = await api.signUp();
    assert.deepEqual(await targets({ actor: stranger.email }), []);
    const [first] = (await owner.client.call(activity.listActivity, { query: { action: 'org.renamed' } }))
      .events;
    const until = first?.timestamp ?? assert.fail();
    assert.equal((await targets({ action: 'org.renamed', actor: owner.email, until })).length, 5);
  });

  for (const [name, value] of [
    ['action', 'key.created'],
    ['actor', '\u0000'],
  ] as const)
    it(`400 for the ${name} ${JSON.stringify(value)}`, async () => {
      const { client } = await api.signUp();
      const refused = await client.refused(activity.listActivity, 400, { query: { [name]: value } });
      assert.deepEqual((refused as { detail: { loc: unknown }[] }).detail[0]?.loc, ['query', name]);
    });
});
