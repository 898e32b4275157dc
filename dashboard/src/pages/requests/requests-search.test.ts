import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readAmount } from '../../format/amount-text.ts';
import { isFiltered, listQuery, trendQuery, validateRequests } from './requests-search.ts';

describe('the URL of the request log', () => {
  it('keeps what is valid, and asks list and chart under the same conditions', () => {
    const search = validateRequests({
      range: '7d',
      model: 'openai/gpt-5-mini',
      status: '4xx',
      ending: 'success',
      error: 'rate_limit_exceeded',
      cost: '0.25',
      q: 'customer 4711',
      offset: '50',
      request: 'req_1',
      live: 'true',
    });
    const { model, ...list } = listQuery(search);
    const { model_alias, ...trend } = trendQuery(search);
    assert.equal(model, model_alias);
    assert.deepEqual(list, trend);
    assert.deepEqual(list, {
      time_range: '7d',
      status_category: '4xx',
      termination_reason: 'success',
      error_code: 'rate_limit_exceeded',
      min_cost_pkr: 0.25,
      search: 'customer 4711',
    });
    assert.deepEqual([search.offset, search.request, search.live], [50, 'req_1', true]);
    assert.ok(isFiltered(search));
  });

  it('keeps the largest amount that can be typed', () => {
    for (const typed of ['9999999999999999', '9,999,999,999,999,999']) {
      const read = readAmount(typed);
      // The router reads a number where the text is one.
      const cost: unknown = read.kind === 'decimal' && JSON.parse(read.decimal);
      assert.equal(listQuery(validateRequests({ cost })).min_cost_pkr, 1e16);
    }
  });

  for (const wrong of [
    { status: '9xx' },
    { ending: 'bored' },
    { cost: '-1' },
    { cost: '1e3' },
    { cost: '0.0000001' },
    { q: 'x'.repeat(301) },
    { offset: '-50' },
    { offset: '0' },
    { live: 'maybe' },
  ])
    it(`drops ${JSON.stringify(wrong).slice(0, 50)}`, () => {
      assert.deepEqual(validateRequests(wrong), {});
      assert.ok(!isFiltered(validateRequests(wrong)));
    });
});
