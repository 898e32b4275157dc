import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { runSql, useTestDatabase } from '@gatehouse/store/testing';
import { applyCatalogue } from './apply-catalogue.ts';
import { listRouteOverviews } from './operate-routes.ts';
import { readCatalogue } from './read-catalogue.ts';
import { sweepUpstreamStates } from './sweep-gateway-rows.ts';

const FILE = `providers:
  one: { protocol: openai, base_url: "http://127.0.0.1:1/v1", api_key_env: A_KEY }
routes:
  - id: a/b
    targets: [{ provider: one, upstream_model: m }, { provider: one, upstream_model: n }]
    price_pkr_per_million: { input: 1, output: 2 }
    max_output_tokens: 10
`;

const test = await useTestDatabase();

// What gateways write. Minutes count from now.
const write = (
  instance: string,
  upstreamModel: string,
  state: string,
  untilMinutes: number | null,
  updatedMinutes = 0,
) => runSql(test.database)`
  INSERT INTO upstream_states (instance, provider, upstream_model, credential, state, until, reason, updated_at)
  VALUES (${instance}, 'one', ${upstreamModel}, 'default', ${state},
          clock_timestamp() + ${untilMinutes}::double precision * interval '1 minute', 'status 429',
          clock_timestamp() + ${updatedMinutes}::double precision * interval '1 minute')`;

describe('the states of upstreams', () => {
  before(async () => {
    await applyCatalogue(test.database, readCatalogue(FILE, 'f.yaml'));
    await write('a', 'm', 'open', 5);
    await write('b', 'm', 'half_open', 5);
    await write('c', 'm', 'closed', 5);
    await write('d', 'm', 'open', -1, -1);
    await write('e', 'other', 'open', 5);
    await write('f', 'n', 'closed', null, -120);
    await write('g', 'n', 'open', -61, -120);
    // Written long ago, and open for longer still.
    await write('h', 'n', 'open', 5, -120);
  });

  it('are shown beside their target while they are open and not past their time', async () => {
    const [route] = await listRouteOverviews(test.database);
    assert.deepEqual(
      route?.targets.map(({ upstreamModel, cooling }) => [
        upstreamModel,
        cooling.map(({ instance, credential, reason }) => [instance, credential, reason]),
      ]),
      [
        [
          'm',
          [
            ['a', 'default', 'status 429'],
            ['b', 'default', 'status 429'],
          ],
        ],
        ['n', [['h', 'default', 'status 429']]],
      ],
    );
  });

  it('are removed an hour after they mattered, with the gateways that wrote them', async () => {
    await sweepUpstreamStates(test.database);
    const rows = await runSql<{ instance: string }>(test.database)`
      SELECT instance FROM upstream_states ORDER BY instance`;
    assert.equal(rows.map(({ instance }) => instance).join(''), 'abcdeh');
  });
});
