import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import { ApiError } from '@gatehouse/contract';
import type { Database } from '@gatehouse/store';
import type { QuerySession } from '../query-session.ts';
import { NO_FILTER } from '../rules.ts';
import { type SpendGroups, spend } from '../spend/telemetry.ts';
import type { Scope } from '../telemetry.ts';
import { rankGroups, trend } from '../trend/telemetry.ts';
import { findGroups } from './key-groups.ts';
import { breakdown, breakdownOfMany, type KeyProperty, MAX_KEYS } from './telemetry.ts';

const scope = { organizationId: randomUUID(), fromMicros: 0n, toMicros: 1n } as Scope;

/** Groups by a property of keys where this many keys made requests, each with a member of its own. */
function findGroupsOf(count: number, by: KeyProperty) {
  const used = Array.from({ length: count }, () => randomUUID());
  const session = { row: async () => ({ used }) } as unknown as QuerySession;
  const many = async () => used.map((id) => ({ id, environment: 'testing', member: randomUUID() }));
  return findGroups(session, { many } as unknown as Database, scope, { by });
}

describe('the properties of keys', () => {
  for (const by of ['environment', 'member'] as const)
    it(`are found for 20,000 keys by ${by}, in queries within the size that the engine is told`, async () => {
      const groups = await findGroupsOf(MAX_KEYS, by);
      const part = { scope, filter: NO_FILTER, requestsPerHour: undefined };
      const starts = [0];
      const queries = [
        breakdown(scope, NO_FILTER, groups, 20),
        breakdownOfMany(scope, NO_FILTER, groups, 20),
        rankGroups(part, groups, 20),
        trend(part, {
          starts,
          groups: { by: groups, labels: ['x'] },
          sums: ['requests', 'failed', 'entries'],
          quantiles: [],
        } as never),
        ...(by === 'member'
          ? [
              spend(scope, {
                filter: NO_FILTER,
                groups: groups as SpendGroups,
                starts,
                limit: 20,
                requestsPerHour: undefined,
              }),
            ]
          : []),
      ];
      for (const { sql, settings } of queries) {
        assert.ok(Buffer.byteLength(sql) < Number(settings['max_query_size']));
        assert.ok(sql.length > MAX_KEYS * 36);
      }
    });

  it('are 400 for more, with what to do', async () => {
    await assert.rejects(findGroupsOf(MAX_KEYS + 1, 'member'), (error) => {
      assert.ok(error instanceof ApiError);
      assert.equal(error.status, 400);
      assert.match(
        JSON.stringify(error.body),
        /More than 20000 keys .* by member needs a shorter window or a project_id/,
      );
      return true;
    });
  });
});
