import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { auth } from '@gatehouse/contract';
import { runSql } from '@gatehouse/store/testing';
import { dumpTables } from '../testing/dump-tables.ts';
import { duringTests } from '../testing/during-tests.ts';
import { startTestApi, TEST_PASSWORD } from '../testing/test-api.ts';

const ATTEMPTS = 3;
const WINDOW_SECONDS = 900;

describe('failed sign-ins of one address', () => {
  const api = duringTests(() =>
    startTestApi({ signInAttempts: ATTEMPTS, signInWindowSeconds: WINDOW_SECONDS }),
  );

  const attempt = async (email: string, password = 'wrong password') =>
    api.anonymous().send(auth.login, { body: { email, password } });
  const statuses = async (email: string, ...passwords: (string | undefined)[]) => {
    const all: number[] = [];
    for (const password of passwords) all.push((await attempt(email, password)).status);
    return all;
  };
  const fail = (email: string) =>
    statuses(email, ...Array.from({ length: ATTEMPTS }, () => 'wrong password'));
  /** Lets time go by for all failures so far. */
  const later = (seconds: number) =>
    runSql(api.database)`
      UPDATE failed_sign_ins SET failed_at = failed_at - make_interval(secs => ${seconds})`;

  it('429 after so many, for the right password as well, with the time to wait', async () => {
    const { email } = await api.signUp();
    assert.deepEqual(await fail(email), [401, 401, 401]);
    for (const password of ['wrong password', TEST_PASSWORD]) {
      const reply = await attempt(email, password);
      assert.equal(reply.status, 429);
      assert.equal(
        reply.text,
        '{"error":"Too many sign-ins for this e-mail address have failed. Try again later."}',
      );
      assert.equal(reply.headers['set-cookie'], undefined);
      const seconds = Number(reply.headers['retry-after']);
      assert.ok(Number.isInteger(seconds) && seconds > WINDOW_SECONDS - 60 && seconds <= WINDOW_SECONDS);
    }
  });

  it('429 in the same way for an address that has no account', async () => {
    assert.deepEqual(
      await statuses('nobody@example.com', ...Array(5).fill(TEST_PASSWORD)),
      [401, 401, 401, 429, 429],
    );
  });

  it('429 for every spelling of the address, and from every source', async () => {
    const { email } = await api.signUp();
    await fail(email);
    for (const spelling of [email.toUpperCase(), `  ${email}`, `${email}\n`]) {
      const reply = await api.anonymous().send(auth.login, {
        body: { email: spelling, password: TEST_PASSWORD },
        headers: { 'x-forwarded-for': `203.0.113.${spelling.length}` },
      });
      assert.equal(reply.status, 429);
    }
  });

  it('200 for other addresses, and for live sessions', async () => {
    const limited = await api.signUp();
    const other = await api.signUp();
    await fail(limited.email);
    assert.equal((await attempt(limited.email, TEST_PASSWORD)).status, 429);
    assert.equal((await attempt(other.email, TEST_PASSWORD)).status, 200);
    await limited.client.call(auth.me);
    await limited.client.call(auth.refresh);
  });

  it('200 once the oldest failure has aged out, and the wait counts down to that', async () => {
    const { email } = await api.signUp();
    await attempt(email);
    await later(300);
    await statuses(email, undefined, undefined);
    const limited = await attempt(email, TEST_PASSWORD);
    assert.equal(limited.status, 429);
    const seconds = Number(limited.headers['retry-after']);
    assert.ok(seconds > 540 && seconds <= 600, `${seconds}`);
    await later(540);
    const early = await attempt(email, TEST_PASSWORD);
    assert.equal(early.status, 429);
    assert.ok(Number(early.headers['retry-after']) >= 1 && Number(early.headers['retry-after']) <= 60);
    await later(61);
    assert.equal((await attempt(email, TEST_PASSWORD)).status, 200);
  });

  it('does not count a try that was limited: waiting is enough, however often one asks', async () => {
    const { email } = await api.signUp();
    await fail(email);
    await statuses(email, ...Array(5).fill(TEST_PASSWORD));
    await later(WINDOW_SECONDS + 1);
    assert.equal((await attempt(email, TEST_PASSWORD)).status, 200);
  });

  it('keeps the failures after a success: an attacker may guess while the owner signs in', async () => {
    const { email } = await api.signUp();
    assert.deepEqual(await statuses(email, undefined, undefined, TEST_PASSWORD), [401, 401, 200]);
    assert.deepEqual(await statuses(email, TEST_PASSWORD, undefined, TEST_PASSWORD), [200, 401, 429]);
    await later(WINDOW_SECONDS + 1);
    assert.deepEqual(await statuses(email, undefined, TEST_PASSWORD), [401, 200]);
  });

  it('tells as many guesses at once no more than as many in a row', async () => {
    for (const email of ['burst@example.com', (await api.signUp()).email]) {
      const replies = await Promise.all(Array.from({ length: 20 }, () => attempt(email)));
      const counted = Map.groupBy(replies, ({ status }) => status);
      assert.equal(counted.get(401)?.length, ATTEMPTS);
      assert.equal(counted.get(429)?.length, 20 - ATTEMPTS);
    }
  });

  it('does not let the right password through in a burst of guesses beyond the limit', async () => {
    const { email } = await api.signUp();
    await statuses(email, undefined, undefined);
    // All begin below the limit; whatever the order in which they end, one failure more is all there is.
    const guesses = [...Array(8).fill('wrong password'), TEST_PASSWORD, ...Array(8).fill('wrong password')];
    const replies = await Promise.all(guesses.map((password) => attempt(email, password)));
    assert.equal(replies.filter(({ status }) => status === 401).length, 1);
    assert.ok(replies.every(({ status }) => [200, 401, 429].includes(status)));
  });

  it('keeps no address of those that failed', async () => {
    await attempt('stranger@example.com');
    const dump = await dumpTables(api.database);
    assert.ok(!dump.includes('stranger@example.com'));
    assert.ok(!dump.includes(Buffer.from('stranger@example.com').toString('hex')));
  });
});
