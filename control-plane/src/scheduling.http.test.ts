import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { after, afterEach, before, describe, it } from 'node:test';
import { analytics, auth, keys, organization } from '@gatehouse/contract';
import { createScheduling } from './scheduling.ts';
import { waitingForLocks } from './testing/hold-organization.ts';
import { holdLog } from './testing/hold-rows.ts';
import { type SignedUp, startTestApi, TEST_PASSWORD, type TestApi } from './testing/test-api.ts';

const CONNECTIONS = 8;
// As many as a connection takes: one that is handled, and eight that wait.
const REQUESTS_EACH = 9;

describe('requests of one organisation that wait for a lock', () => {
  let api: TestApi;
  let busy: SignedUp;
  let other: SignedUp;
  before(async () => {
    api = await startTestApi();
    [busy, other] = [await api.signUp(), await api.signUp()];
  });
  after(() => api?.[Symbol.asyncDispose]());
  let release: () => Promise<void>;
  afterEach(() => release());
  /** Locks the head of the activity log, where every change of the organisation records its event. */
  const holdBusy = async () => {
    const held = await holdLog(api.owner, busy.organizationId);
    let isReleased: Promise<void> | undefined;
    release = () => {
      isReleased ??= held.release();
      return isReleased;
    };
  };

  const cookieOf = ({ client }: SignedUp) =>
    [...client.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  /** Sends that many renames over one connection without waiting for an answer. */
  const pipeline = (account: SignedUp, count: number): Socket => {
    const body = JSON.stringify({ name: account.organizationName });
    const request = `PATCH /api/organization HTTP/1.1\r\nhost: x\r\ncookie: ${cookieOf(account)}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
    const socket = connect(api.port, '127.0.0.1');
    socket.write(request.repeat(count));
    return socket;
  };
  const loggedRequests = (account: SignedUp) =>
    api.logLines.filter(
      (line) => line['organization_id'] === account.organizationId && line['msg'] === 'request',
    );

  it('200 for another organisation, before all the requests that eight connections take at once', async () => {
    await holdBusy();
    const before = loggedRequests(busy).length;
    const sockets = Array.from({ length: CONNECTIONS }, () => pipeline(busy, REQUESTS_EACH));
    // Two hold a connection of the pool, six wait without one, and the requests behind them are not handled yet.
    await waitingForLocks(api.owner, 2);
    await other.client.call(keys.listKeys);
    await other.client.call(organization.renameOrganization, { body: { name: other.organizationName } });
    await api.signUp();
    assert.equal(loggedRequests(busy).length, before);

    let text = '';
    const allReplied = Promise.all(
      sockets.map(async (socket) => {
        let replies = 0;
        for await (const chunk of socket) {
          text += chunk;
          replies += String(chunk).split('HTTP/1.1 ').length - 1;
          if (replies === REQUESTS_EACH) break;
        }
      }),
    );
    await release();
    await allReplied;
    const statuses = new Set([...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status));
    assert.deepEqual(statuses, new Set(['200']));
    assert.equal(loggedRequests(busy).length, before + CONNECTIONS * REQUESTS_EACH);
  });

  it('200 for another organisation while renames and joins of one wait', async () => {
    await holdBusy();
    const joins = Array.from({ length: 10 }, (_, n) =>
      api.anonymous().send(auth.register, {
        body: {
          email: `joins-${n}-${busy.email}`,
          password: TEST_PASSWORD,
          organization_name: busy.organizationName,
        },
      }),
    );
    const renames = Array.from({ length: 10 }, () =>
      busy.client.copy().send(organization.renameOrganization, { body: { name: busy.organizationName } }),
    );
    // Two renames and one join wait in the database; the other seventeen hold no connection.
    await waitingForLocks(api.owner, 3);
    await other.client.call(auth.me);
    await other.client.call(keys.listKeys);
    await other.client.call(organization.renameOrganization, { body: { name: other.organizationName } });
    await api.signUp();
    await release();
    for (const { status } of await Promise.all(renames)) assert.equal(status, 200);
    for (const { status } of await Promise.all(joins)) assert.equal(status, 201);
  });

  it('503 with Retry-After once two hundred requests wait, for that organisation only', async () => {
    await holdBusy();
    const clients = Array.from({ length: 210 }, () => busy.client.copy());
    const replies = clients.map((client) =>
      client.send(organization.renameOrganization, { body: { name: busy.organizationName } }),
    );
    // Two hold a permit and two hundred wait.
    let rejected = 0;
    const { promise: areRejected, resolve } = Promise.withResolvers<void>();
    for (const reply of replies) {
      void reply.then(({ status, headers }) => {
        rejected += Number(status === 503 && headers['retry-after'] === '1');
        if (rejected === 8) resolve();
      });
    }
    await areRejected;
    await other.client.call(keys.listKeys);
    await release();
    const statuses = (await Promise.all(replies)).map(({ status }) => status);
    assert.equal(statuses.filter((status) => status === 503).length, 8);
    assert.equal(statuses.filter((status) => status === 200).length, 202);
  });

  it('503 of the telemetry store for the organisation itself: telemetry queries hold no permit', async () => {
    await holdBusy();
    const renames = [1, 2].map(() =>
      busy.client.copy().send(organization.renameOrganization, { body: { name: busy.organizationName } }),
    );
    await waitingForLocks(api.owner, 2);
    await busy.client.refused(analytics.getSummary, 503);
    await release();
    await Promise.all(renames);
  });
});

describe('look-ups of sessions', () => {
  it('queue behind others of the same token only', async () => {
    const scheduling = createScheduling(undefined as never);
    const { signal } = new AbortController();
    const order: string[] = [];
    const first = await scheduling.sessionPermit('a', signal);
    const crowd = Array.from({ length: 999 }, async () => {
      using _ = await scheduling.sessionPermit('a', signal);
      order.push('a');
    });
    using _ = await scheduling.sessionPermit('b', signal);
    order.push('b');
    first[Symbol.dispose]();
    await Promise.all(crowd);
    assert.equal(order[0], 'b');
    assert.equal(order.length, 1_000);
  });

  it('leave the queue when their caller disconnects', async () => {
    const scheduling = createScheduling(undefined as never);
    using _ = await scheduling.sessionPermit('a', new AbortController().signal);
    const gone = new AbortController();
    const waiting = scheduling.sessionPermit('a', gone.signal);
    gone.abort();
    await assert.rejects(Promise.resolve(waiting), { status: 503 });
  });
});
