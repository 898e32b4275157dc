import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { SpendLimit } from '@gatehouse/sdk';
import { perWindow } from '../../format/spend-window.ts';
import { mostInMonth, passedThreshold, scopeOf, thresholdsOf } from './limit-words.ts';

const names = {
  projects: new Map([['p', 'web']]),
  keys: new Map([['k', 'backend']]),
  members: new Map([['m', 'a@example.com']]),
};

describe('a spend limit in words', () => {
  it('names the requests that it binds, and nothing that is gone', () => {
    for (const [scope, kind, name] of [
      [{ kind: 'organization' }, 'Organisation', 'All requests'],
      [{ kind: 'project', id: 'p' }, 'Project', 'web'],
      [{ kind: 'key', id: 'k' }, 'Key', 'backend'],
      [{ kind: 'key', id: 'revoked' }, 'Key', undefined],
      [{ kind: 'member', id: 'm' }, 'Keys of member', 'a@example.com'],
      [{ kind: 'metadata', name: 'team', value: 'red' }, 'Metadata team', 'red'],
      [{ kind: 'metadata', name: 'team', value: null }, 'Metadata team', 'Each value'],
    ] as const)
      assert.deepEqual(scopeOf(scope, names), { kind, name });
  });

  it('says what it lets be spent in the longest month', () => {
    assert.deepEqual(
      (['hour', 'day', 'week', 'month', 'lifetime'] as const).map((window) => [
        perWindow(window),
        mostInMonth(window, 10),
      ]),
      [
        ['an hour', 7_440],
        ['a day', 310],
        ['a week', 60],
        ['a month', 10],
        ['in all', 10],
      ],
    );
  });

  it('reads thresholds as people write them, and nothing else', () => {
    assert.deepEqual(['80, 100', '50%;80 %', ' 1 ', ''].map(thresholdsOf), [[80, 100], [50, 80], [1], []]);
    for (const text of ['0', '101', '80.5', 'eighty', '-1', '80, x'])
      assert.equal(thresholdsOf(text), undefined, text);
  });

  it('tells the highest threshold that is passed', () => {
    const limit = { limit_pkr: 10, alert_at: [50, 80, 100] };
    const passed = (spent_pkr: number, changes = {}) =>
      passedThreshold({ ...limit, spent_pkr, ...changes } as unknown as SpendLimit);
    assert.deepEqual(
      [0, 4.999999, 5, 8.5, 10, 12].map((spent) => passed(spent)),
      [...[undefined, undefined, 50, 80, 100, 100]],
    );
    assert.equal(passed(0, { limit_pkr: 0 }), undefined);
    assert.equal(passed(9, { alert_at: [] }), undefined);
  });
});
