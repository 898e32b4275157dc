import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { auth } from '@gatehouse/contract';
import { dumpTables } from '../testing/dump-tables.ts';
import { duringTests } from '../testing/during-tests.ts';
import { startTestApi } from '../testing/test-api.ts';

const PASSWORD = 'kanarienvogel im kohlenbergwerk';

describe('what signing in leaves behind', () => {
  const api = duringTests(() => startTestApi({ signInAttempts: 3 }));
  const issued = new Set<string>();

  before(async () => {
    const client = api.anonymous();
    const remember = () => {
      for (const token of client.cookies.values()) issued.add(token);
    };
    const body = { email: 'bird@example.com', password: PASSWORD };
    await client.call(auth.register, { body: { ...body, organization_name: 'Mine' } });
    await client.call(auth.login, { body });
    remember();
    await client.call(auth.refresh);
    remember();
    await client.call(auth.logout);
    await client.call(auth.login, { body });
    remember();
    for (const status of [401, 401, 401, 429])
      await client.refused(auth.login, status, { body: { ...body, password: `not the ${PASSWORD}` } });
    await client.refused(auth.register, 409, { body: { ...body, organization_name: 'Mine' } });
    await client.refused(auth.register, 400, { body: { ...body, organization_name: '<' } });
  });

  /** The ways in which a text can be written down. */
  const spellings = (secret: string) => {
    const bytes = Buffer.from(secret);
    return [
      secret,
      bytes.toString('hex'),
      bytes.toString('base64').replaceAll('=', ''),
      encodeURIComponent(secret),
    ];
  };

  it('in the database: no token and no password', async () => {
    const dump = await dumpTables(api.database);
    assert.equal(issued.size, 5);
    assert.ok(
      dump.includes('bird@example.com') && dump.includes('$argon2id$'),
      'the dump has what it should',
    );
    for (const secret of [...issued, PASSWORD, 'kanarienvogel'])
      for (const spelling of spellings(secret)) assert.ok(!dump.includes(spelling), spelling);
    // A token is 32 bytes in base64url: neither are those bytes there.
    for (const token of issued) assert.ok(!dump.includes(Buffer.from(token, 'base64url').toString('hex')));
  });

  it('in the log: no token, no password and no hash of one', () => {
    const log = JSON.stringify(api.logLines);
    assert.ok(api.logLines.length >= 10);
    for (const secret of [...issued, PASSWORD, 'kanarienvogel', 'argon2'])
      for (const spelling of spellings(secret)) assert.ok(!log.includes(spelling), spelling);
  });
});
