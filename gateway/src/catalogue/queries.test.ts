import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import type { OrganizationId } from '@gatehouse/contract';
import { runSql, useTestDatabase } from '@gatehouse/store/testing';
import { addRoute } from '../testing/test-gateway.ts';
import { storeVaultKey } from '../testing/vault-key.ts';
import { withOwnKeys } from './own-keys.ts';
import { findRoute, readVault } from './queries.ts';

const test = await useTestDatabase();

describe('findRoute', () => {
  const limitsOf = async (id: string) => {
    const read = await findRoute(test.database, id);
    assert.ok(read);
    const { defaultOutputTokens, minOutputTokens, maxInputTokens, targets } = read.route;
    return [defaultOutputTokens, minOutputTokens, maxInputTokens, targets[0].provider.outputLimit];
  };

  it('gives a route without limits of its own the defaults, never above its maximum', async () => {
    await addRoute(test.database, { id: 'a/large', maxOutputTokens: 128_000 });
    assert.deepEqual(await limitsOf('a/large'), [32_000, 1_024, null, 'max_completion_tokens']);
    await addRoute(test.database, { id: 'a/small', maxOutputTokens: 1_000 });
    assert.deepEqual(await limitsOf('a/small'), [1_000, 1_000, null, 'max_completion_tokens']);
  });

  it('gives the limits that the catalogue states', async () => {
    await addRoute(test.database, {
      id: 'a/stated',
      maxOutputTokens: 128_000,
      defaultOutputTokens: 64_000,
      minOutputTokens: 1,
      maxInputTokens: 400_000,
      outputLimit: 'both',
    });
    assert.deepEqual(await limitsOf('a/stated'), [64_000, 1, 400_000, 'both']);
  });

  const organizationOf = async () => {
    const id = randomUUID() as OrganizationId;
    await runSql(test.owner)`INSERT INTO organizations (id, name, name_key) VALUES (${id}, ${id}, ${id})`;
    return id;
  };

  it('gives the targets in their order, with their prices, and the pool of credentials of each provider', async () => {
    await addRoute(test.database, {
      id: 'a/several',
      maxAttempts: 16,
      attemptTimeoutMs: 5_000,
      queueMs: 100,
      targets: [
        {
          provider: 'pool',
          upstreamModel: 'm',
          credentials: [
            { name: 'second', apiKeyEnv: 'B_KEY', weight: 1_000 },
            { name: 'first', apiKeyEnv: 'A_KEY' },
          ],
          weight: 3,
        },
        { provider: 'pool', upstreamModel: 'n', priority: 100, inputMicroPkrPerMillion: 2n ** 53n - 1n },
        { provider: 'open', upstreamModel: 'm', apiKeyEnv: null, microPkrPerCall: { web_search: 7n } },
      ],
    });
    const route = (await findRoute(test.database, 'a/several'))?.route ?? assert.fail('no route');
    assert.deepEqual([route.maxAttempts, route.attemptTimeoutMs, route.queueMs], [16, 5_000, 100]);
    assert.deepEqual(
      route.targets.map((target) => [
        ...[target.provider.name, target.upstreamModel, target.priority, target.weight],
        ...[target.inputMicroPkrPerMillion, target.microPkrPerCall.get('web_search')],
        target.provider.credentials.map(({ name }) => name),
      ]),
      [
        ['pool', 'm', 1, 3, 70_000_000n, undefined, ['second', 'first']],
        ['pool', 'n', 100, 1, 2n ** 53n - 1n, undefined, ['second', 'first']],
        ['open', 'm', 1, 1, 70_000_000n, 7n, []],
      ],
    );
    assert.deepEqual(route.targets[0].provider.credentials[0], {
      name: 'second',
      apiKeyEnv: 'B_KEY',
      weight: 1_000,
    });
  });

  it("gives the organisation's own keys for providers of the targets that take a key, and no other's", async () => {
    const [organizationId, other] = [await organizationOf(), await organizationOf()];
    await addRoute(test.database, {
      id: 'a/own',
      targets: ['taking', 'taking too', 'keyless', 'unstored'].map((provider) => ({
        provider,
        apiKeyEnv: provider === 'keyless' ? null : 'A_KEY',
      })),
    });
    await addRoute(test.database, { id: 'a/elsewhere', provider: 'elsewhere' });
    for (const provider of ['taking', 'taking too', 'keyless', 'elsewhere'])
      await storeVaultKey(test.database, { organizationId }, provider, 'sk-own');
    await storeVaultKey(test.database, { organizationId: other }, 'unstored', 'sk-other');
    const read = (await findRoute(test.database, 'a/own')) ?? assert.fail('no route');
    const route = withOwnKeys(read.route, (await readVault(test.database, organizationId)).records);
    assert.deepEqual(
      Array.from(route.vaultRecords, ([provider, record]) => [
        provider,
        record.organizationId,
        record.provider,
      ]),
      [
        ['taking', organizationId, 'taking'],
        ['taking too', organizationId, 'taking too'],
      ],
    );
  });

  it('does not find a route without a target', async () => {
    await addRoute(test.database, { id: 'a/none', targets: [] });
    assert.equal(await findRoute(test.database, 'a/none'), undefined);
  });
});
