import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ResponseMakers } from './response-makers.ts';

const A = { provider: 'openai', credential: 'a' };
const B = { provider: 'openai', credential: 'b' };

describe('the makers of responses', () => {
  it('are found by the id of the response, within the organisation alone', () => {
    const makers = new ResponseMakers();
    makers.add('one', 'resp_1', A);
    makers.add('two', 'resp_1', B);
    assert.equal(makers.find('one', 'resp_1'), A);
    assert.equal(makers.find('two', 'resp_1'), B);
    assert.equal(makers.find('three', 'resp_1'), undefined);
    assert.equal(makers.find('one', 'resp_2'), undefined);
  });

  it('are forgotten in the order in which they were added, past the limit', () => {
    const makers = new ResponseMakers(3);
    for (const id of ['1', '2', '3', '1', '4']) makers.add('one', id, A);
    assert.equal(makers.size, 3);
    assert.deepEqual(
      ['1', '2', '3', '4'].map((id) => makers.find('one', id)),
      [A, undefined, A, A],
    );
  });

  it('are not forgotten for those of another organisation', () => {
    const makers = new ResponseMakers(100);
    for (let n = 0; n < 10; n += 1) makers.add('neighbour', `${n}`, A);
    for (let n = 0; n < 1_000; n += 1) makers.add('hostile', `${n}`, B);
    assert.equal(makers.size, 100);
    for (let n = 0; n < 10; n += 1) assert.equal(makers.find('neighbour', `${n}`), A);
  });

  it('ignore what is no id', () => {
    const makers = new ResponseMakers();
    makers.add('one', '', A);
    makers.add('one', 'x'.repeat(257), A);
    assert.equal(makers.size, 0);
    for (const id of [undefined, null, 7, {}, '', 'x'.repeat(1_000_000)])
      assert.equal(makers.find('one', id), undefined);
  });
});
