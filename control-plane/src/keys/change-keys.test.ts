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
  after(() => test?.[Symbol.asyncDispose]());

  it('of one organisation run one after the other, in order, also after one that fails', async () => {
    const changes = openKeyChanges(() => test.database);
    const organizationId = newOrganizationId();
    const order: number[] = [];
    const results = await Promise.allSettled(
      Array.from({ length: 20 }, (_, n) =>
        changes.inOrganization(organizationId, async () => {
          order.push(n);
          if (n === 3) throw new Error('three');
          return n;
        }),
      ),
    );
    const numbers = [...Array(20).keys()];
    assert.deepEqual(order, numbers);
    assert.deepEqual(
      results.map((result) =>
        result.status === 'fulfilled' ? result.value : (result.reason as Error).message,
      ),
      numbers.map((n) => (n === 3 ? 'three' : n)),
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

  it('get a 503 after the timeout, and those after them still run', async () => {
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

  it('pass on what the change throws', async () => {
    const changes = openKeyChanges(() => test.database);
    const error = new Error('of the change');
    await assert.rejects(
      changes.inOrganization(newOrganizationId(), () => Promise.reject(error)),
      error,
    );
  });
});
