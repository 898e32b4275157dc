import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { z } from 'zod';
import { ApiError } from './errors.ts';
import { limit, offset } from './paging.ts';
import { parseQuery } from './query.ts';

const schema = z.object({ limit: limit(), offset: offset() });

describe('paging', () => {
  for (const [search, page] of [
    ['', { limit: 50, offset: 0 }],
    ['limit=&offset=', { limit: 50, offset: 0 }],
    ['limit=%20&offset=+', { limit: 50, offset: 0 }],
    ['limit=1&offset=0', { limit: 1, offset: 0 }],
    ['limit=050&offset=007', { limit: 50, offset: 7 }],
    ['limit=200', { limit: 200, offset: 0 }],
    ['limit=201', { limit: 200, offset: 0 }],
    ['limit=999999', { limit: 200, offset: 0 }],
    ['limit=9223372036854775808', { limit: 200, offset: 0 }],
    [`limit=${'9'.repeat(400)}`, { limit: 200, offset: 0 }],
    ['offset=2000000000', { limit: 50, offset: 2_000_000_000 }],
    ['offset=9007199254740991', { limit: 50, offset: 9_007_199_254_740_991 }],
    // Names that are none of the endpoint's.
    ['Limit=1&OFFSET=9&limit%5B%5D=2&limit[]=3&limit%20=4', { limit: 50, offset: 0 }],
  ] satisfies [string, { limit: number; offset: number }][]) {
    it(`reads ${search.slice(0, 60) || 'nothing'} as ${JSON.stringify(page)}`, () =>
      assert.deepEqual(parseQuery(schema, search), page));
  }

  const neither = ['-1', '-0', '%2B5', '1.0', '1.5', '1e2', '0x10', '1_0', 'abc', 'NaN', 'Infinity', 'null'];
  const spaced = ['5%20', '%205', '5%0A', '5%0D%0A', '+5', '%D9%A5', '%EF%BC%95', '5,6', '[5]'];
  for (const value of [...neither, ...spaced]) {
    for (const name of ['limit', 'offset']) {
      it(`refuses ${name}=${JSON.stringify(value)}`, () =>
        assert.deepEqual(issuesIn(`${name}=${value}`), [`${name}: not_an_integer`]));
    }
  }

  it('refuses a limit of 0, and an offset that a number does not hold exactly', () => {
    assert.deepEqual(issuesIn('limit=0'), ['limit: not_an_integer']);
    assert.deepEqual(issuesIn('limit=000'), ['limit: not_an_integer']);
    assert.deepEqual(issuesIn('offset=9007199254740992'), ['offset: not_an_integer']);
    assert.deepEqual(issuesIn('offset=9223372036854775808'), ['offset: not_an_integer']);
    assert.deepEqual(issuesIn(`offset=${'9'.repeat(400)}`), ['offset: not_an_integer']);
  });

  it('reports both, each with its own sentence', () => {
    assert.deepEqual(detail('limit=0&offset=-1'), [
      { loc: ['query', 'limit'], msg: 'Must be an integer of at least 1.', type: 'not_an_integer' },
      {
        loc: ['query', 'offset'],
        msg: 'Must be an integer from 0 to 9007199254740991.',
        type: 'not_an_integer',
      },
    ]);
  });
});

interface Detail {
  readonly loc: readonly string[];
  readonly msg: string;
  readonly type: string;
}

function detail(search: string): Detail[] {
  try {
    parseQuery(schema, search);
  } catch (error) {
    assert.ok(error instanceof ApiError && error.status === 400);
    return error.body['detail'] as Detail[];
  }
  return assert.fail(`${search} was accepted`);
}

function issuesIn(search: string): string[] {
  return detail(search).map((issue) => `${issue.loc[1]}: ${issue.type}`);
}
