import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { activity, auth, organization } from '@gatehouse/contract';
import { runSql } from '@gatehouse/store/testing';
import { ApiClient } from '../testing/api-client.ts';
import { dumpTables } from '../testing/dump-tables.ts';
import { duringTests } from '../testing/during-tests.ts';
import { startTestApi } from '../testing/test-api.ts';

const PASSWORD = 'a long enough phrase';

describe('POST /auth/register', () => {
  const api = duringTests(startTestApi);
  let client: ApiClient;
  before(async () => {
    client = api.anonymous();
  });

  const fields = (given: Record<string, unknown>) => ({
    body: { email: 'someone@example.com', password: PASSWORD, organization_name: 'Some', ...given },
  });

  const issuesOf = async (given: Record<string, unknown>) => {
    const { detail } = await client.refused(auth.register, 400, fields(given));
    return (detail as { loc: string[]; type: string }[]).map(({ loc, type }) => `${loc.join('.')} ${type}`);
  };

  /** A client that is signed in with what was registered. */
  const signIn = async (email: string, password = PASSWORD) => {
    const signedIn = new ApiClient(api.port);
    await signedIn.call(auth.login, { body: { email, password } });
    return signedIn;
  };

  it('201 with the account and its new organisation, and no cookie', async () => {
    const reply = await client.send(
      auth.register,
      fields({ email: 'ada@example.com', organization_name: 'Ada' }),
    );
    assert.equal(reply.status, 201);
    assert.equal(reply.headers['set-cookie'], undefined);
    const { user, organization: created, ...more } = JSON.parse(reply.text);
    assert.deepEqual(more, {});
    assert.deepEqual(Object.keys(user), ['user_id', 'email', 'role', 'joined_at']);
    assert.deepEqual([user.email, user.role], ['ada@example.com', 'owner']);
    assert.match(user.joined_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00$/);
    assert.deepEqual(created, { id: created.id, name: 'Ada' });

    const signedIn = await signIn('ada@example.com');
    assert.deepEqual(await signedIn.call(auth.me), { user, organization: created });
    const { members } = await signedIn.call(organization.listMembers);
    assert.deepEqual(members, [user]);
    const { projects } = await signedIn.call(organization.listProjects);
    assert.deepEqual(
      projects.map(({ name }) => name),
      ['Default'],
    );
    const { events } = await signedIn.call(activity.listActivity);
    assert.deepEqual(
      events.map(({ actor, action, target }) => [actor, action, target]),
      [
        ['ada@example.com', 'user.login', 'ada@example.com'],
        [null, 'budget.deposited', '1000.00 PKR'],
        ['ada@example.com', 'member.joined', 'ada@example.com'],
      ],
    );
    const [balance] = await runSql(api.database)`
      SELECT deposited_micro_pkr AS sum FROM balances WHERE organization_id = ${created.id}`;
    assert.deepEqual(balance, { sum: 1_000_000_000n });
  });

  it('201 with a membership where the name is used, in any spelling', async () => {
    const owner = await api.signUp({ organization: 'Straße 7' });
    for (const [n, name] of [
      'Straße 7',
      ' straße 7 ',
      'STRASSE 7',
      'ｓｔｒａｓｓｅ　７',
      'stra\u00adsse 7',
    ].entries()) {
      const email = `joining${n}@example.com`;
      const account = await client.call(auth.register, fields({ email, organization_name: name }));
      assert.deepEqual(account.organization, { id: owner.organizationId, name: 'Straße 7' });
      assert.equal(account.user.role, 'member');
    }
    const { members } = await owner.client.call(organization.listMembers);
    assert.deepEqual(
      members.map(({ role }) => role),
      ['owner', ...Array(5).fill('member')],
    );
    const { projects } = await owner.client.call(organization.listProjects);
    assert.equal(projects.length, 1);
    const { events } = await owner.client.call(activity.listActivity);
    assert.deepEqual(
      events.slice(0, 5).map(({ actor, action, target }) => [actor, action, target]),
      [4, 3, 2, 1, 0].map((n) => [`joining${n}@example.com`, 'member.joined', `joining${n}@example.com`]),
    );
    assert.equal(events.filter(({ action }) => action === 'budget.deposited').length, 1);
  });

  it('201 with another organisation for a name that only looks the same', async () => {
    const { organizationId } = await api.signUp({ organization: 'Acme' });
    for (const [n, name] of ['\u0410cme', 'A\u0441me', 'Acme.', 'Acmé', 'A cme', 'Αcme'].entries()) {
      const account = await client.call(
        auth.register,
        fields({ email: `alike${n}@example.com`, organization_name: name }),
      );
      assert.notEqual(account.organization.id, organizationId);
      assert.equal(account.user.role, 'owner');
    }
  });

  it('201 and ignores fields that it does not know', async () => {
    const body = JSON.stringify({
      ...fields({ email: 'plain@example.com' }).body,
      organization_name: 'Plain',
    });
    const added = `${body.slice(0, -1)},"role":"admin","is_active":false,"organization_id":"11111111-1111-4111-8111-111111111111",
      "user_id":"11111111-1111-4111-8111-111111111111","deposited":5,"__proto__":{"role":"admin"}}`;
    const reply = await client.raw({
      method: 'POST',
      path: '/api/auth/register',
      headers: { 'content-type': 'application/json' },
      body: added,
    });
    assert.equal(reply.status, 201);
    const { user, organization: created } = JSON.parse(reply.text);
    assert.equal(user.role, 'owner');
    for (const id of [user.user_id, created.id]) assert.notEqual(id, '11111111-1111-4111-8111-111111111111');
    const [row] = await runSql(api.database)`SELECT role, is_active FROM users WHERE id = ${user.user_id}`;
    assert.deepEqual(row, { role: 'owner', isActive: true });
  });

  it('409 for an address that has an account, in any spelling, and nothing is changed', async () => {
    await client.call(auth.register, fields({ email: 'taken@example.com', organization_name: 'Taken' }));
    const before = await dumpTables(api.database);
    for (const email of ['taken@example.com', 'TAKEN@Example.COM', '  taken@example.com\n']) {
      for (const name of ['Taken', 'Not taken']) {
        assert.deepEqual(
          await client.refused(auth.register, 409, fields({ email, organization_name: name })),
          {
            error: 'An account with this e-mail address exists already.',
          },
        );
      }
    }
    assert.equal(await dumpTables(api.database), before);
  });

  it('400 with every issue of the body', async () => {
    assert.deepEqual(await issuesOf({ email: 5, password: 'short', organization_name: undefined }), [
      'body.email wrong_type',
      'body.password too_short',
      'body.organization_name missing',
    ]);
  });

  describe('the e-mail address', () => {
    const longest = `${'l'.repeat(242)}@example.com`;

    for (const [email, stored] of [
      ['  Grace.Hopper+NAVY@Example.COM ', 'grace.hopper+navy@example.com'],
      ["o'hara_x/y={z}!#$%&*?^`|~-@sub.example.co", "o'hara_x/y={z}!#$%&*?^`|~-@sub.example.co"],
      ['a@localhost', 'a@localhost'],
      ['1@xn--bcher-kva.example', '1@xn--bcher-kva.example'],
      [longest, longest],
    ] as [string, string][]) {
      it(`201 for ${email.slice(0, 40)}`, async () => {
        const account = await client.call(auth.register, fields({ email, organization_name: 'Addresses' }));
        assert.equal(account.user.email, stored);
      });
    }

    const malformed =
      'plain @example.com a@ a@b@example.com a@example..com .a@example.com a.@example.com a@.example.com a@example.com. ' +
      '<script>@example.com a@example.com,b@example.com "a"@example.com';
    const foreign =
      '\u212aelvin@example.com café@example.com a@bücher.example ａ@example.com a\u200b@example.com';
    const spaced = ['', '  ', 'a b@example.com', 'a@exa mple.com', 'Ada <a@example.com>'];
    for (const [emails, ...kinds] of [
      [[...malformed.split(' '), ...spaced], 'not_an_email'],
      [[...foreign.split(' '), 'a\n@example.com', 'a\r\nBcc: b@b.example', 'a\u007f@b.example'], 'not_ascii'],
      [[`${longest}m`], 'too_long'],
      [['a'.repeat(300)], 'not_an_email', 'too_long'],
    ] as [string[], ...string[]][]) {
      it(`400 with ${kinds.join(' and ')} for each of ${emails.length}`, async () => {
        for (const email of emails)
          assert.deepEqual(
            await issuesOf({ email }),
            kinds.map((kind) => `body.email ${kind}`),
            email,
          );
      });
    }
  });

  describe('the password', () => {
    for (const [title, password] of [
      ['8 characters', 'q7#Lm2x9'],
      ['8 characters beyond the first plane', '😀😁😂🤣😃😄😅😆'],
      ['256 characters beyond the first plane', '🔑'.repeat(256)],
      ['spaces on both sides', '  wide margins  '],
      ['any language and any control character', 'پاس ورڈ\t\u0001\u200b'],
    ] as [string, string][]) {
      it(`201 for one of ${title}, which then opens the account as it is`, async () => {
        const email = `${Buffer.from(title).toString('hex').slice(0, 60)}@example.com`;
        await client.call(auth.register, fields({ email, password, organization_name: 'Passwords' }));
        await signIn(email, password);
        if (password !== password.trim())
          await client.refused(auth.login, 401, { body: { email, password: password.trim() } });
      });
    }

    for (const [kind, ...passwords] of [
      ['too_short', 'q7#Lm2x', '😀😁😂🤣😃😄😅', ''],
      ['too_long', 'x'.repeat(257), 'x'.repeat(60_000)],
      ['common_password', 'password1', 'PASSWORD1', '123456789'],
    ] as [string, ...string[]][]) {
      it(`400 with ${kind} for each of ${passwords.length}, without repeating it`, async () => {
        for (const password of passwords) {
          const { detail } = await client.refused(auth.register, 400, fields({ password }));
          const [issue, ...more] = detail as { loc: string[]; msg: string; type: string }[];
          assert.deepEqual([issue?.loc, issue?.type, more], [['body', 'password'], kind, []]);
          assert.ok(password === '' || !issue?.msg.includes(password));
        }
      });
    }
  });

  // The rules themselves are tested with `organizationName`.
  it('400 in one sentence for a name that breaks a rule, and nothing is changed', async () => {
    const before = await dumpTables(api.database);
    for (const [name, about] of [
      ['\u200b ', 'blank'],
      ['😀'.repeat(256), '255'],
      ['a<b', '<'],
      ['a\u001b[2Jb', 'control'],
      ['a\u202eb', 'direction'],
    ] as const) {
      const { error, ...more } = await client.refused(
        auth.register,
        400,
        fields({ organization_name: name }),
      );
      assert.deepEqual(more, {});
      assert.match(String(error), new RegExp(`^The organisation name must .*${about}.*\\.$`));
    }
    assert.equal(await dumpTables(api.database), before);
  });
});
