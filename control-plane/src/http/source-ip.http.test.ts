import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { activity, auth } from '@gatehouse/contract';
import { addresses, startTestApi } from '../testing/test-api.ts';

describe('the address in the activity log', () => {
  for (const [hops, table] of [
    [
      1,
      [
        [['1.1.1.1', '203.0.113.9'], '203.0.113.9'],
        [['1.1.1.1, 2.2.2.2', '3.3.3.3, 203.0.113.9'], '203.0.113.9'],
        ['203.0.113.9, <script>alert(1)</script>', '127.0.0.1'],
      ],
    ],
    [
      0,
      [
        ['203.0.113.9', '127.0.0.1'],
        [['203.0.113.9', '203.0.113.10'], '127.0.0.1'],
      ],
    ],
    [2, [['1.1.1.1, 203.0.113.9, 198.51.100.2', '203.0.113.9']]],
  ] as [number, [string | string[] | undefined, string][]][]) {
    it(`is what ${hops} trusted proxies say it is`, async () => {
      await using api = await startTestApi({ trustedProxyHops: hops });
      const { client, email, password } = await api.signUp();
      for (const [forwardedFor] of table) {
        const reply = await client.raw({
          method: 'POST',
          path: '/api/auth/login',
          headers: {
            'content-type': 'application/json',
            ...(forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor }),
          },
          body: JSON.stringify({ email, password }),
        });
        assert.equal(reply.status, 200);
      }
      const { events } = await client.call(activity.listActivity, { query: { limit: table.length } });
      assert.deepEqual(
        events.map((event) => event.source_ip).reverse(),
        table.map(([, expected]) => expected),
      );
    });
  }

  it('is the peer where that is no proxy of ours, whatever it says', async () => {
    await using api = await startTestApi({ trustedProxies: addresses('192.0.2.1') });
    const { client, email, password } = await api.signUp();
    const headers = { 'x-forwarded-for': '203.0.113.9' };
    await client.call(auth.login, { body: { email, password }, headers });
    const { events } = await client.call(activity.listActivity, { query: { limit: 1 } });
    assert.equal(events[0]?.source_ip, '127.0.0.1');
  });
});
