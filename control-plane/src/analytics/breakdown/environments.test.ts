import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import { ApiError } from '@gatehouse/contract';
import type { Database } from '@gatehouse/store';
import type { QuerySession } from '../query-session.ts';
import { NO_FILTER } from '../rules.ts';
import type { Scope } from '../telemetry.ts';
import { findGroups } from './environments.ts';
import { breakdown, MAX_KEYS } from './telemetry.ts';

const scope = { organizationId: randomUUID(), fromMicros: 0n, toMicros: 1n } as Scope;

/** Groups by environment where this many keys made requests. */
function findGroupsOf(count: number) {
  const used = Array.from({ length: count }, () => randomUUID());
  const session = { row: async () => ({ used }) } as unknown as QuerySession;
  const many = async () => used.map((id) => ({ id, environment: 'testing' }));
  return findGroups(session, { many } as unknown as Database, scope, { by: 'environment' });
}

describe('the environments of keys', () => {
  it('are found for 20,000 keys, in a query within the size that the engine is told', async () => {
    const groups = await findGroupsOf(MAX_KEYS);
    const { sql, settings } = breakdown(scope, NO_FILTER, groups, 20);
    assert.ok(Buffer.byteLength(sql) < Number(settings['max_query_size']));
    assert.ok(sql.length > MAX_KEYS * 36);
  });

  it('are 400 for more, with what to do', async () => {
    await assert.rejects(findGroupsOf(MAX_KEYS + 1), (error) => {
      assert.ok(error instanceof ApiError);
      assert.equal(error.status, 400);
      assert.match(JSON.stringify(error.body), /More than 20000 keys .* shorter window or a project_id/);
      return true;
    });
  });
});
