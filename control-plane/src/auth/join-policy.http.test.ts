import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { auth } from '@gatehouse/contract';
import { runSql } from '@gatehouse/store/testing';
import { dumpTables } from '../testing/dump-tables.ts';
import { startTestApi, type TestApi } from '../testing/test-api.ts';

const CLOSED = 'This organisation takes no new members by registration.';

describe('POST /auth/register with the name of an organisation', () => {
  const register = (api: TestApi, email: string, organization_name = 'Acme') =>
    api
      .anonymous()
      .send(auth.register, { body: { email, password: 'a long enough phrase', organization_name } });

  for (const [policy, colleague, stranger, error] of [
    ['open', 201, 201, undefined],
    ['same-domain', 201, 403, /same domain as its owner/],
    ['closed', 403, 403, new RegExp(`^${CLOSED}$`)],
  ] as const) {
    it(`${colleague} from the owner's domain and ${stranger} from another when it is ${policy}`, async () => {
      await using api = await startTestApi({ joinPolicy: policy });
      assert.equal((await register(api, 'owner@acme.example')).status, 201);
      for (const [email, expected] of [
        ['Colleague@ACME.example', colleague],
        ['stranger@elsewhere.example', stranger],
        ['a@sub.acme.example', stranger],
      ] as const) {
        const before = await dumpTables(api.database);
        const { status, text } = await register(api, email, ' ACME ');
        assert.equal(status, expected, email);
        if (status === 201) assert.equal(JSON.parse(text).user.role, 'member');
        else {
          assert.match(JSON.parse(text).error, error ?? assert.fail(text));
          assert.equal(await dumpTables(api.database), before);
        }
      }
      // The policy does not apply to a new organisation.
      assert.equal((await register(api, 'new@elsewhere.example', 'Elsewhere')).status, 201);
      // Without an owner, no domain is the same.
      await runSql(api.owner)`DELETE FROM users WHERE role = 'owner'`;
      const expected = policy === 'open' ? 201 : 403;
      assert.equal((await register(api, 'late@acme.example')).status, expected);
    });
  }
});
