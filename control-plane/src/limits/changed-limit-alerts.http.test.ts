import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { alerts, spendLimits } from '@gatehouse/contract';
import { runSql } from '@gatehouse/store/testing';
import { duringTests } from '../testing/during-tests.ts';
import { signUpForKeys } from '../testing/key-account.ts';
import { startTestApi } from '../testing/test-api.ts';

describe('the alerts of a spend limit that is changed', () => {
  const api = duringTests(startTestApi);

  const startWith = async (limit_pkr: number, alert_at: readonly number[]) => {
    const { client, organizationId } = await signUpForKeys(api);
    await client.call(alerts.createAlertChannel, {
      body: { kind: 'webhook', url: 'https://a.example.com/' },
    });
    const body = { scope: { kind: 'organization' as const }, window: 'month' as const, limit_pkr, alert_at };
    const { id } = await client.call(spendLimits.createSpendLimit, {
      body: { ...body, alert_at: [...alert_at] },
    });
    await runSql(api.database)`SELECT open_spend_window(${id}, '', clock_timestamp())`;
    return {
      change: (body: object) => client.call(spendLimits.updateSpendLimit, { params: { limit_id: id }, body }),
      spendTo: (pkr: number) => runSql(api.database)`
        UPDATE spend_windows SET spent_micro_pkr = ${BigInt(pkr) * 1_000_000n} WHERE limit_id = ${id}`,
      /** The thresholds that were told, with the amount of each limit. */
      told: async () =>
        (
          await runSql<{ told: string }>(api.database)`
            SELECT concat_ws(' of ', data ->> 'percent', (data ->> 'limitMicroPkr')::bigint / 1000000) AS told
            FROM alert_deliveries WHERE organization_id = ${organizationId} ORDER BY created_at`
        ).map(({ told }) => told),
    };
  };

  it('are those of the new amount: of a raised one again, of a lowered one at once', async () => {
    const { change, spendTo, told } = await startWith(100, [80]);
    await spendTo(85);
    assert.deepEqual(await told(), ['80 of 100']);
    await change({ limit_pkr: 200 });
    await spendTo(159);
    assert.deepEqual(await told(), ['80 of 100']);
    await spendTo(160);
    assert.deepEqual(await told(), ['80 of 100', '80 of 200']);
    await change({ limit_pkr: 160 });
    assert.deepEqual(await told(), ['80 of 100', '80 of 200', '100 of 160']);
    await change({ limit_pkr: 200 });
    await spendTo(170);
    assert.equal((await told()).length, 3);
    await change({ limit_pkr: 0 });
    assert.deepEqual((await told()).slice(3), ['100 of 0']);
  });

  it('are those of the new thresholds that are still ahead', async () => {
    const { change, spendTo, told } = await startWith(100, [50]);
    await spendTo(60);
    await change({ alert_at: [40, 70, 100] });
    assert.deepEqual(await told(), ['50 of 100']);
    await spendTo(70);
    assert.deepEqual(await told(), ['50 of 100', '70 of 100']);
    await change({ alert_at: [] });
    await spendTo(99);
    assert.equal((await told()).length, 2);
    await spendTo(100);
    assert.deepEqual((await told()).slice(2), ['100 of 100']);
  });
});
