import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { hashGatewayKey, isWellFormedGatewayKey, keys } from '@gatehouse/contract';
import { sql, statement } from '@gatehouse/store';
import { runSql } from '@gatehouse/store/testing';
import { comparable } from '../testing/comparable.ts';
import { dumpTables } from '../testing/dump-tables.ts';
import { cookieOf, eventsOf, issueNames, mintKey, sendText, signUpForKeys } from '../testing/key-account.ts';
import { startTestApi, type TestApi } from '../testing/test-api.ts';

interface Accepted {
  readonly secretHash: Buffer;
  readonly isPrevious: boolean;
}

// As the gateway looks them up.
const acceptedSecrets = statement<{ id: string }, Accepted>(
  'test-accepted-secrets',
  sql`SELECT secret_hash, false AS is_previous FROM api_keys WHERE id = ${'id'} AND revoked_at IS NULL
      UNION ALL
      SELECT s.secret_hash, true FROM previous_secrets s JOIN api_keys k ON k.id = s.key_id
      WHERE s.key_id = ${'id'} AND s.valid_until > clock_timestamp() AND k.revoked_at IS NULL`,
);

describe('POST /keys/{key_id}/rotate', () => {
  let api: TestApi;
  before(async () => {
    api = await startTestApi();
  });
  after(() => api?.[Symbol.asyncDispose]());

  const accepted = async (id: string) => {
    const rows = await api.database.many(acceptedSecrets, { id });
    return rows.map(({ secretHash, isPrevious }) => [secretHash.toString('hex'), isPrevious]);
  };
  const hash = (secret: string) => hashGatewayKey(secret).toString('hex');

  it('200 with a new secret for the same key; the one before is accepted for a day', async () => {
    const account = await signUpForKeys(api);
    const minted = await mintKey(account, { name: 'one', credit_limit_cents: 5 });
    const began = Date.now();
    const rotated = await account.client.call(keys.rotateKey, { params: { key_id: minted.id }, body: {} });
    const { id, api_key, key_prefix, previous_key_prefix, previous_valid_until, ...others } = rotated;
    assert.deepEqual(others, {});
    assert.equal(id, minted.id);
    assert.ok(isWellFormedGatewayKey(api_key) && api_key !== minted.api_key);
    assert.ok(api_key.startsWith(key_prefix));
    assert.equal(previous_key_prefix, minted.key_prefix);
    const used = '2026-11-20T10:15:30.5+00:00';
    const params = { key_id: id };
    assert.equal((await account.client.call(keys.getKey, { params })).previous_last_used_at, null);
    await runSql(api.owner)`UPDATE previous_secrets SET last_used_at = ${used} WHERE key_id = ${id}`;
    assert.equal(
      Date.parse((await account.client.call(keys.getKey, { params })).previous_last_used_at ?? ''),
      Date.parse(used),
    );
    const graceMs = Date.parse(previous_valid_until) - began;
    assert.ok(graceMs > 86_390_000 && graceMs < 86_500_000, String(graceMs));
    assert.deepEqual(await accepted(id), [
      [hash(api_key), false],
      [hash(minted.api_key), true],
    ]);
    const shown = await account.client.call(keys.getKey, { params: { key_id: id } });
    assert.deepEqual(
      [shown.key_prefix, shown.previous_key_prefix, shown.previous_valid_until, shown.credit_limit_cents],
      [key_prefix, minted.key_prefix, previous_valid_until, 5],
    );
    const [event, ...more] = await eventsOf(account, 'api_key.rotated');
    assert.deepEqual([event?.target, event?.actor, more], [key_prefix, account.email, []]);
    // Neither secret is stored.
    const stored = await dumpTables(api.owner);
    for (const secret of [api_key, minted.api_key]) assert.ok(!stored.includes(secret));
  });

  it('ends the oldest secret at once in a second rotation, and the one before with a grace of 0', async () => {
    const account = await signUpForKeys(api);
    const { id, api_key: first } = await mintKey(account);
    const rotate = (body: object) => account.client.call(keys.rotateKey, { params: { key_id: id }, body });
    const second = await rotate({ grace_seconds: 604_800 });
    const third = await rotate({ grace_seconds: 1_000 });
    assert.deepEqual(await accepted(id), [
      [hash(third.api_key), false],
      [hash(second.api_key), true],
    ]);
    assert.ok(!(await accepted(id)).some(([one]) => one === hash(first)));
    const fourth = await rotate({ grace_seconds: 0 });
    assert.deepEqual(await accepted(id), [[hash(fourth.api_key), false]]);
    const { previous_key_prefix, previous_valid_until } = await account.client.call(keys.getKey, {
      params: { key_id: id },
    });
    assert.deepEqual([previous_key_prefix, previous_valid_until], [null, null]);
    assert.equal(fourth.previous_key_prefix, third.key_prefix);
  });

  it('needs no body, but JSON where there is one', async () => {
    const account = await signUpForKeys(api);
    const params = { key_id: (await mintKey(account)).id };
    assert.equal((await account.client.send(keys.rotateKey, { params })).status, 200);
    assert.equal((await accepted(params.key_id)).length, 2);
    const path = `/keys/${params.key_id}/rotate`;
    assert.equal((await sendText(account, 'POST', path, '')).status, 200);
    const headers = { cookie: cookieOf(account), 'content-type': 'application/x-www-form-urlencoded' };
    const form = { method: 'POST', path: `/api${path}`, headers, body: 'grace_seconds=0' };
    assert.equal((await account.client.raw(form)).status, 415);
    assert.equal((await accepted(params.key_id)).length, 2);
  });

  it('ends both secrets when the key is revoked', async () => {
    const account = await signUpForKeys(api);
    const { id } = await mintKey(account);
    await account.client.call(keys.rotateKey, { params: { key_id: id }, body: {} });
    await account.client.call(keys.revokeKey, { params: { key_id: id } });
    assert.deepEqual(await accepted(id), []);
    await account.client.refused(keys.rotateKey, 404, { params: { key_id: id }, body: {} });
  });

  it('404 alike for a key that is foreign, unknown, malformed or revoked, which GET answers too', async () => {
    const [account, stranger] = [await signUpForKeys(api), await signUpForKeys(api)];
    const [foreign, own] = [await mintKey(stranger), await mintKey(account)];
    await account.client.call(keys.revokeKey, { params: { key_id: own.id } });
    for (const [endpoint, body] of [
      [keys.rotateKey, {}],
      [keys.getKey, undefined],
    ] as const) {
      const replies = [];
      for (const key_id of [foreign.id, randomUUID(), own.id, 'not-a-uuid', "' OR true --"]) {
        const reply = await account.client.send(endpoint, { params: { key_id }, ...(body && { body }) });
        assert.equal(reply.status, 404, key_id);
        replies.push(comparable(reply));
      }
      for (const reply of replies) assert.deepEqual(reply, replies[0]);
    }
    assert.deepEqual(await accepted(foreign.id), [[hash(foreign.api_key), false]]);
    assert.deepEqual(await eventsOf(stranger, 'api_key.rotated'), []);
  });

  it('409 for a repeat with the same Idempotency-Key, naming the new prefix and never a secret', async () => {
    const account = await signUpForKeys(api);
    const [key, other] = [await mintKey(account), await mintKey(account)];
    const headers = { 'idempotency-key': 'rotation of November' };
    const given = { params: { key_id: key.id }, body: {}, headers };
    const rotated = await account.client.call(keys.rotateKey, given);
    const repeat = await account.client.send(keys.rotateKey, given);
    assert.equal(repeat.status, 409);
    assert.match(repeat.text, new RegExp(`minted the key ${rotated.key_prefix} already`));
    assert.ok(!repeat.text.includes(rotated.api_key));
    const different = { ...given, params: { key_id: other.id } };
    const { error } = await account.client.refused(keys.rotateKey, 409, different);
    assert.match(String(error), /belongs to another request/);
    assert.deepEqual(await accepted(other.id), [[hash(other.api_key), false]]);
  });

  it('400 for a grace that is negative, longer than a week, no integer or no number', async () => {
    const account = await signUpForKeys(api);
    const { id, api_key } = await mintKey(account);
    for (const grace of ['-1', '604801', '1.5', '"60"', 'null', '[]', '1e400']) {
      const reply = await sendText(account, 'POST', `/keys/${id}/rotate`, `{"grace_seconds":${grace}}`);
      assert.equal(reply.status, 400, grace);
      if (grace !== '1e400') assert.deepEqual(issueNames(reply.body), ['grace_seconds'], grace);
    }
    assert.deepEqual(await accepted(id), [[hash(api_key), false]]);
  });

  it('leaves two secrets, and as many entries as rotations, of ten at once', async () => {
    const account = await signUpForKeys(api);
    const { id } = await mintKey(account);
    const rotations = await Promise.all(
      Array.from({ length: 10 }, () =>
        account.client.call(keys.rotateKey, { params: { key_id: id }, body: {} }),
      ),
    );
    const last = rotations.filter(
      ({ key_prefix }) => !rotations.some(({ previous_key_prefix }) => previous_key_prefix === key_prefix),
    );
    assert.equal(last.length, 1);
    const [current, previous, ...more] = await accepted(id);
    assert.deepEqual([current, more], [[hash(last[0]?.api_key ?? ''), false], []]);
    const before = rotations.find(({ key_prefix }) => key_prefix === last[0]?.previous_key_prefix);
    assert.deepEqual(previous, [hash(before?.api_key ?? ''), true]);
    assert.equal((await eventsOf(account, 'api_key.rotated')).length, 10);
  });
});

describe('GET /keys/{key_id}', () => {
  let api: TestApi;
  before(async () => {
    api = await startTestApi();
  });
  after(() => api?.[Symbol.asyncDispose]());

  it('200 with the row of the list, the member who minted the key, and no previous secret', async () => {
    const account = await signUpForKeys(api);
    const { id } = await mintKey(account, { name: 'owned' });
    const { keys: listed } = await account.client.call(keys.listKeys);
    const { created_by, previous_key_prefix, previous_valid_until, ...row } = await account.client.call(
      keys.getKey,
      { params: { key_id: id.toUpperCase() } },
    );
    assert.deepEqual(row, listed[0]);
    assert.deepEqual(created_by, { id: account.userId, email: account.email });
    assert.deepEqual([previous_key_prefix, previous_valid_until], [null, null]);
  });

  it('200 with null for a key that no member minted', async () => {
    const account = await signUpForKeys(api);
    const { id } = await mintKey(account);
    await api.database.run(disown, { id });
    assert.equal((await account.client.call(keys.getKey, { params: { key_id: id } })).created_by, null);
  });
});

const disown = statement<{ id: string }>(
  'test-disown-key',
  sql`UPDATE api_keys SET created_by = NULL WHERE id = ${'id'}`,
);
