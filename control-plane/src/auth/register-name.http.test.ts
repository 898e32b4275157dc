import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { auth } from '@gatehouse/contract';
import type { ApiClient } from '../testing/api-client.ts';
import { dumpTables } from '../testing/sql.ts';
import { startTestApi, type TestApi } from '../testing/test-api.ts';

describe('the organisation name at POST /auth/register', () => {
  let api: TestApi;
  let client: ApiClient;
  before(async () => {
    api = await startTestApi();
    client = api.anonymous();
  });
  after(() => api[Symbol.asyncDispose]());

  const fields = (name: unknown) => ({
    body: { email: `${randomUUID()}@example.com`, password: 'a long enough phrase', organization_name: name },
  });

  for (const [given, stored] of [
    ['  Acme  ', 'Acme'],
    ['\u00a0\u3000Wide\u2003', 'Wide'],
    ['😀'.repeat(255), '😀'.repeat(255)],
    ['x'.repeat(255), 'x'.repeat(255)],
    [` ${'y'.repeat(255)} `, 'y'.repeat(255)],
    ['ＦＵＬＬ　width', 'FULL width'],
    ['ﬁne', 'fine'],
    ['e\u0301tude', 'étude'],
    // As long as what is stored fits.
    ['e\u0301'.repeat(255), 'é'.repeat(255)],
    ['\uff1cb\uff1e', '\uff1cb\uff1e'],
    ['a\u226eb', 'a\u226eb'],
    ['"quotes" & \'more\'; DROP TABLE users --', '"quotes" & \'more\'; DROP TABLE users --'],
    ['{{7*7}} #{1+1} %s %00', '{{7*7}} #{1+1} %s %00'],
    ['شركة', 'شركة'],
    ['👩‍👩‍👧 family', '👩‍👩‍👧 family'],
    ['null', 'null'],
  ] as [string, string][]) {
    it(`201 for ${JSON.stringify(given).slice(0, 50)}`, async () => {
      const account = await client.call(auth.register, fields(given));
      assert.equal(account.organization.name, stored);
      assert.equal(account.user.role, 'owner');
    });
  }

  for (const [given, about] of [
    ['', 'blank'],
    [' ', 'blank'],
    ['\t', 'blank'],
    ['\u00a0', 'blank'],
    ['\u200b', 'blank'],
    ['\u3164', 'blank'],
    ['\uffa0', 'blank'],
    ['\u115f\u1160', 'blank'],
    ['\u2060 \ufeff\u00ad', 'blank'],
    ['\ufe0f', 'blank'],
    ['\u{e0100}\u{e0020}', 'blank'],
    ['😀'.repeat(256), '255'],
    ['x'.repeat(256), '255'],
    ['x'.repeat(60_000), '255'],
    // One character that is stored as eighteen.
    ['\ufdfa'.repeat(100), '255'],
    ['a<b', '<'],
    ['a>b', '<'],
    ['<script>alert(1)</script>', '<'],
    ['a\nb', 'control'],
    ['a\rb', 'control'],
    ['a\tb', 'control'],
    ['a\u001b[2Jb', 'control'],
    ['a\u007fb', 'control'],
    ['a\u0085b', 'control'],
    ['a\u2028b', 'control'],
    ['a\u2029b', 'control'],
    ['a\u202eb', 'direction'],
    ['a\u2066b\u2069', 'direction'],
    ['a\u200fb', 'direction'],
    ['a\u061cb', 'direction'],
  ] as [string, string][]) {
    it(`400 for ${JSON.stringify(given).slice(0, 50)}, in one sentence`, async () => {
      const { error, ...more } = await client.refused(auth.register, 400, fields(given));
      assert.deepEqual(more, {});
      assert.match(String(error), new RegExp(`^The organisation name must .*${about}.*\\.$`));
    });
  }

  for (const given of [null, 5, true, ['Acme'], { name: 'Acme' }, undefined]) {
    it(`400 for ${JSON.stringify(given)}, as an issue of the shape`, async () => {
      const { detail } = await client.refused(auth.register, 400, fields(given));
      assert.equal((detail as unknown[]).length, 1);
    });
  }

  it('leaves nothing behind when it is refused', async () => {
    const before = await dumpTables(api.database);
    for (const name of ['', 'a<b', 'a\u202eb', '\u0000'])
      await client.refused(auth.register, 400, fields(name));
    assert.equal(await dumpTables(api.database), before);
  });
});
