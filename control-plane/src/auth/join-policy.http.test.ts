import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { auth } from '@gatehouse/contract';
import type { JoinPolicy } from '../settings.ts';
import { dumpTables, sql } from '../testing/sql.ts';
import { startTestApi, type TestApi } from '../testing/test-api.ts';

describe('POST /auth/register with the name of an organisation', () => {
  const register = (api: TestApi, email: string, name = 'Acme') =>
    api.anonymous().send(auth.register, {
      body: { email, password: 'a long enough phrase', organization_name: name },
    });

  /** An API with that policy, and Acme in it, owned by an account at acme.example. */
  const withAcme = async (joinPolicy: JoinPolicy) => {
    const api = await startTestApi({ joinPolicy });
    assert.equal((await register(api, 'owner@acme.example')).status, 201);
    return api;
  };

  it('201 for any address where joining is open', async () => {
    await using api = await withAcme('open');
    const reply = await register(api, 'stranger@elsewhere.example');
    assert.equal(reply.status, 201);
    assert.equal(JSON.parse(reply.text).user.role, 'member');
  });

  it('403 for any address where it is closed, and 201 for a new organisation', async () => {
    await using api = await withAcme('closed');
    const before = await dumpTables(api.database);
    for (const [email, name] of [
      ['colleague@acme.example', 'Acme'],
      ['stranger@elsewhere.example', ' ACME '],
    ] as const) {
      const reply = await register(api, email, name);
      assert.equal(reply.status, 403);
      assert.equal(reply.text, '{"error":"This organisation takes no new members by registration."}');
    }
    assert.equal(await dumpTables(api.database), before);
    assert.equal((await register(api, 'stranger@elsewhere.example', 'Elsewhere')).status, 201);
  });

  it('403 for other domains where it must be the same as the owner, subdomains and look-alikes included', async () => {
    await using api = await withAcme('same-domain');
    const before = await dumpTables(api.database);
    for (const email of [
      'stranger@elsewhere.example',
      'a@sub.acme.example',
      'a@example',
      'a@notacme.example',
      'a@acme.example.evil.example',
      'acme.example@elsewhere.example',
    ]) {
      const reply = await register(api, email);
      assert.equal(reply.status, 403, email);
      assert.match(JSON.parse(reply.text).error, /same domain as its owner/);
    }
    assert.equal(await dumpTables(api.database), before);
    for (const email of ['colleague@acme.example', 'Another@ACME.example'])
      assert.equal((await register(api, email)).status, 201);
  });

  it('403 for every address where it must be the same and the owner is gone', async () => {
    await using api = await withAcme('same-domain');
    await sql(api.owner, 'DELETE FROM users');
    assert.equal((await register(api, 'colleague@acme.example')).status, 403);
  });
});
