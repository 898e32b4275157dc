import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type NoParameters, sql, statement } from '@gatehouse/store';
import { useBench } from '../testing/bench.ts';
import { completion, json } from '../testing/mock-provider.ts';
import { addRoute, issueKey } from '../testing/test-gateway.ts';

const listStates = statement<
  NoParameters,
  {
    instance: string;
    provider: string;
    credential: string;
    state: string;
    isAhead: boolean | null;
    reason: string | null;
  }
>(
  'gateway-test-list-upstream-states',
  sql`SELECT instance, provider, credential, state, until > clock_timestamp() AS is_ahead, reason FROM upstream_states`,
);

const bench = await useBench();

describe('the state of upstreams', () => {
  it('200 in the log and in the database, without the key, and not in readyz, which strangers read', async () => {
    const { gateway, provider, key, database } = bench;
    await addRoute(database, { id: 'states/route', provider: 'states', baseUrl: provider.baseUrl });
    const ready = async () => (await gateway.fetch('/readyz')).json();
    assert.deepEqual(await ready(), { status: 'ready' });

    provider.script = json({ error: { message: 'slow down' } }, 429, { 'retry-after': '7' });
    await (await gateway.chat(key.secret, { model: 'states/route' })).text();
    const upstream = {
      provider: 'states',
      upstream_model: 'upstream-model',
      surface: 'chat',
      credential: 'default',
      organization_id: key.organizationId,
    };
    assert.deepEqual(await ready(), { status: 'ready' });
    const logged = (event: string) => gateway.logged.filter((line) => line['event'] === event);
    const [opened, ...others] = logged('upstream.opened');
    assert.deepEqual(others, []);
    assert.deepEqual(opened, { ...opened, ...upstream, level: 40, reason: 'answered 429', for_ms: 7_000 });

    const row = { provider: 'states', credential: 'default' };
    assert.deepEqual(await statesOnce((states) => states.length > 0), [
      { ...row, state: 'open', isAhead: true, reason: 'answered 429 (chat, for one organisation)' },
    ]);

    const other = await issueKey(database);
    await (await gateway.chat(other.secret, { model: 'states/route' })).text();
    const forAll = 'answered 429 (chat, for all organisations)';
    assert.deepEqual(await statesOnce(([state]) => state?.reason === forAll), [
      { ...row, state: 'open', isAhead: true, reason: forAll },
    ]);

    gateway.time.advance(7_000);
    provider.script = json(completion('Hi'));
    for (const { secret } of [key, other])
      await (await gateway.chat(secret, { model: 'states/route' })).text();
    assert.deepEqual(
      logged('upstream.closed').map((line) => line['organization_id']),
      [key.organizationId, undefined, other.organizationId],
    );
    assert.deepEqual(await statesOnce(([state]) => state?.state !== 'open'), [
      { ...row, state: 'closed', isAhead: null, reason: null },
    ]);
  });

  /** The rows, once they are so. */
  async function statesOnce(isSo: (states: readonly { state: string; reason: string | null }[]) => boolean) {
    for (let n = 0; n < 1_000; n += 1) {
      const states = (await bench.owner.many(listStates)).map(({ instance, ...state }) => {
        assert.match(instance, new RegExp(` ${process.pid}$`));
        return state;
      });
      if (isSo(states)) return states;
    }
    throw new Error('the states were not written');
  }
});
