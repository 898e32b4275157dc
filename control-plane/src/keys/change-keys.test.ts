import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { ApiError, type OrganizationId } from '@gatehouse/contract';
import { createTestDatabase, type TestDatabase } from '@gatehouse/store/testing';
import { openKeyChanges } from './change-keys.ts';

const newOrganizationId = () => randomUUID() as string as OrganizationId;

describe('changes of keys', () => {
  let test: TestDatabase;
  before(async () => {
    test = await createTestDatabase();
  });
  after(() => test[Symbol.asyncDispose]());

  it('of one organisation come one after the other in their order, past one that fails', async () => {
    const changes = openKeyChanges(() => test.database);
    const organizationId = newOrganizationId();
    const told: number[] = [];
    const results = await Promise.allSettled(
      Array.from({ length: 20 }, (_, n) =>
        changes.inOrganization(organizationId, async () => {
          told.push(n);
          if (n === 3) throw new Error('three');
          return n;
        }),
      ),
    );
    assert.deepEqual(told, [...Array(20).keys()]);
    assert.deepEqual(
      results.map((result) =>
        result.status === 'fulfilled' ? result.value : (result.reason as Error).message,
      ),
      [0, 1, 2, 'three', ...Array.from({ length: 16 }, (_, n) => n + 4)],
    );
  });

  it('of several organisations do not wait for each other', async () => {
    const changes = openKeyChanges(() => test.database);
    const { promise: open, resolve } = Promise.withResolvers<void>();
    const first = changes.inOrganization(newOrganizationId(), () => open);
    await changes.inOrganization(newOrganizationId(), async () => undefined);
    resolve();
    await first;
  });

  it('are refused with 503 when their turn does not come, and those after them are not lost', async () => {
    const changes = openKeyChanges(() => test.database, 1);
    const organizationId = newOrganizationId();
    const { promise: open, resolve } = Promise.withResolvers<string>();
    const first = changes.inOrganization(organizationId, () => open);
    await assert.rejects(
      changes.inOrganization(organizationId, () => assert.fail('it ran')),
      (error) => error instanceof ApiError && error.status === 503 && error.headers['retry-after'] === '1',
    );
    resolve('first');
    assert.equal(await first, 'first');
    assert.equal(await changes.inOrganization(organizationId, async () => 'later'), 'later');
  });
});
