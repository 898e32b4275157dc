import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { z } from 'zod';
import { ApiError } from './errors.ts';
import { parseQuery } from './query.ts';

const schema = z.object({
  search: z.string().optional(),
  color: z.enum(['red', 'green']).default('red'),
  size: z.string().regex(/^\d+$/).optional(),
});

describe('parseQuery', () => {
  for (const [search, expected] of [
    ['', { color: 'red' }],
    ['&&', { color: 'red' }],
    ['search=a', { search: 'a', color: 'red' }],
    ['search=a=b', { search: 'a=b', color: 'red' }],
    ['%73earch=a', { search: 'a', color: 'red' }],
    // An empty value counts as unset.
    ['search', { color: 'red' }],
    ['search=', { color: 'red' }],
    ['search=&color=&size=', { color: 'red' }],
    ['search=%20%09&color=+', { color: 'red' }],
    ['search=%C2%A0', { color: 'red' }],
    // What is not blank keeps its spaces.
    ['search=+a+b+', { search: ' a b ', color: 'red' }],
    ['search=a%2Bb', { search: 'a+b', color: 'red' }],
    // Unknown names are ignored, whatever they hold and however often.
    ['other=1&other=2', { color: 'red' }],
    ['other=%00&%ff=%ff&%00=1', { color: 'red' }],
    ['search[]=1&search[a]=2&Search=3', { color: 'red' }],
    ['__proto__=1&constructor=2&__proto__[role]=owner', { color: 'red' }],
    ['?search=a', { color: 'red' }],
    ['size=5;color=green', 'size: invalid_format'],
    // A lone % is literal.
    ['search=%', { search: '%', color: 'red' }],
    ['search=100%', { search: '100%', color: 'red' }],
    ['search=%zz', { search: '%zz', color: 'red' }],
    ['search=%25zz', { search: '%zz', color: 'red' }],
    ['search=%4', { search: '%4', color: 'red' }],
    ['search=%c3%a9', { search: 'é', color: 'red' }],
    ['search=\u00c3\u00a9', { search: 'é', color: 'red' }],
    ['search=%F0%9F%98%80', { search: '😀', color: 'red' }],
    ['search=%EF%BF%BD', { search: '\ufffd', color: 'red' }],
    ['search=%EF%BB%BFa', { search: '\ufeffa', color: 'red' }],
    // Text that is none, or that no database keeps.
    ['search=%00', 'search: text_not_storable'],
    ['search=a%00b', 'search: text_not_storable'],
    ['search=%ff', 'search: text_not_storable'],
    ['search=%C3', 'search: text_not_storable'],
    ['search=%C0%AF', 'search: text_not_storable'],
    ['search=%ED%A0%80', 'search: text_not_storable'],
    ['search=%ED%A0%BD%ED%B8%80', 'search: text_not_storable'],
    // Given twice is ambiguous, even with the same value or none.
    ['search=a&search=b', 'search: repeated'],
    ['search=a&search=a', 'search: repeated'],
    ['search=&search=', 'search: repeated'],
    ['search=a&%73earch=b', 'search: repeated'],
    ['search=%ff&search=%ff', 'search: repeated'],
    // Every issue is listed, one for each parameter.
    ['search=%00&color=blue&size=x', 'search: text_not_storable, color: not_in_list, size: invalid_format'],
    ['search=1&search=2&color=blue&size=1', 'search: repeated, color: not_in_list'],
    ['color=red&color=blue&size=%00', 'color: repeated, size: text_not_storable'],
  ] as [string, Record<string, string> | string][]) {
    it(`${search || 'nothing'} gives ${JSON.stringify(expected)}`, () => {
      if (typeof expected === 'string') assert.equal(issues(search), expected);
      else assert.deepEqual(parseQuery(schema, search), expected);
    });
  }

  it('reads as many parameters as a request can carry', () => {
    assert.equal(issues(Array.from({ length: 8_000 }, () => 'search').join('&')), 'search: repeated');
    const names = Array.from({ length: 4_000 }, (_, n) => n.toString(36)).join('&');
    assert.deepEqual(parseQuery(schema, names), { color: 'red' });
  });
});

function issues(search: string): string {
  try {
    parseQuery(schema, search);
  } catch (error) {
    assert.ok(error instanceof ApiError);
    assert.equal(error.status, 400);
    const detail = error.body['detail'] as { loc: string[]; msg: string; type: string }[];
    for (const issue of detail) {
      assert.equal(issue.loc[0], 'query');
      assert.match(issue.msg, /\.$|^Invalid/);
    }
    return detail.map((issue) => `${issue.loc[1]}: ${issue.type}`).join(', ');
  }
  return assert.fail(`${search} was accepted`);
}
