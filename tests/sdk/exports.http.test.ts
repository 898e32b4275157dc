import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import { duringTests, startAnalyticsApi } from '@gatehouse/control-plane/testing';
import { type Client, createClient, GatehouseError, type RequestLogEntry, Session } from '@gatehouse/sdk';

// The exports of the request log through the SDK, beside its pages.

describe('the exports of the SDK', () => {
  const started = duringTests(() => startAnalyticsApi());

  /** A client whose organisation has this many requests. */
  async function withRequests(count: number): Promise<Client> {
    const account = await started.api.signUp();
    const client = createClient({
      baseUrl: `http://127.0.0.1:${started.api.port}/api`,
      session: new Session(),
    });
    await client.auth.login({ email: account.email, password: account.password });
    await started.add(
      account,
      Array.from({ length: count }, (_, n) => ({
        requestId: randomUUID(),
        model: n % 3 === 0 ? 'a/one' : 'a/two',
        metadata: new Map([['note', 'line\nbreak, "quoted" \u2028 سلام']]),
      })),
    );
    return client;
  }

  const allOf = async (rows: AsyncIterable<RequestLogEntry>) => Array.fromAsync(rows);

  it('200 with every row of every page, in their order', async () => {
    const client = await withRequests(450);
    const pages = await Promise.all(
      [0, 200, 400].map((offset) => client.analytics.listRequests({ limit: 200, offset })),
    );
    assert.deepEqual(
      await allOf(client.iterateRequests()),
      pages.flatMap(({ requests }) => requests),
    );
    assert.equal((await allOf(client.iterateRequests({ model: 'a/one' }))).length, 150);
  });

  it('200 as a CSV file with the name that the service gives it', async () => {
    const client = await withRequests(3);
    const { body, fileName, type } = await client.downloadRequests({ model: 'a/two' }, { type: 'text/csv' });
    assert.match(fileName, /^[\w-]+\.csv$/);
    assert.equal(type, 'text/csv');
    const text = await new Response(body).text();
    assert.match(text, /^req_id,timestamp,model,/);
    assert.equal(text.match(/,a\/two,/g)?.length, 2);
  });

  it('200 for no rows', async () => {
    const client = await withRequests(0);
    assert.deepEqual(await allOf(client.iterateRequests()), []);
  });

  it('400 before the first row, as everywhere', async () => {
    const client = await withRequests(0);
    await assert.rejects(allOf(client.iterateRequests({ time_range: 'a week' })), (error) => {
      assert.ok(error instanceof GatehouseError);
      assert.deepEqual([error.status, error.issues[0]?.loc], [400, ['query', 'time_range']]);
      return true;
    });
  });

  it('200 of which the rest is not read when the loop ends early', async () => {
    const client = await withRequests(450);
    for await (const row of client.iterateRequests()) {
      assert.ok(row.req_id);
      break;
    }
    const controller = new AbortController();
    const read: string[] = [];
    await assert.rejects(
      (async () => {
        for await (const row of client.iterateRequests({}, { signal: controller.signal })) {
          read.push(row.req_id);
          controller.abort();
        }
      })(),
      { name: 'AbortError' },
    );
    assert.ok(read.length > 0);
  });
});
