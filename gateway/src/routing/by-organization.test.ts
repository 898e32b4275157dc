import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ByOrganization } from './by-organization.ts';

function fill(values: ByOrganization<number>, organizationId: string, count: number): void {
  for (let n = 0; n < count; n += 1) values.add(organizationId, `${n}`, n);
}

describe('what is remembered for each organisation', () => {
  it('is bounded for one, and only its own makes room', () => {
    const values = new ByOrganization<number>({ max: 10_000, maxOfOne: 100 });
    fill(values, 'neighbour', 3);
    fill(values, 'hostile', 5_000);
    assert.equal(values.size, 103);
    assert.equal(values.find('neighbour', '0'), 0);
    assert.equal(values.find('hostile', '0'), undefined);
    assert.equal(values.find('hostile', '4999'), 4_999);
  });

  it('is bounded for all, and those that have their share make room by their own', () => {
    const values = new ByOrganization<number>({ max: 500 });
    fill(values, 'neighbour', 3);
    for (let n = 0; n < 50; n += 1) fill(values, `hostile ${n}`, 5_000);
    assert.equal(values.size, 500);
    for (const name of ['0', '1', '2']) assert.equal(values.find('neighbour', name), Number(name));
  });

  it('is all that there is room for, where there is one organisation', () => {
    const values = new ByOrganization<number>({ max: 500 });
    fill(values, 'one', 5_000);
    assert.equal(values.size, 500);
    fill(values, 'another', 1);
    assert.equal(values.size, 500);
    assert.ok(values.has('another'));
  });

  it('makes room by what is of no use any more, where it finds that', () => {
    const values = new ByOrganization<number>({ max: 100, isForgettable: (value) => value === 10 });
    fill(values, 'one', 101);
    assert.equal(values.size, 100);
    assert.equal(values.find('one', '10'), undefined);
    assert.equal(values.find('one', '0'), 0);
  });

  it('takes nothing when it is gone', () => {
    const values = new ByOrganization<number>({ max: 100 });
    fill(values, 'one', 2);
    values.add('one', '0', 7);
    assert.equal(values.size, 2);
    for (const name of ['0', '0', '1']) values.delete('one', name);
    assert.ok(!values.has('one'));
    assert.equal(values.size, 0);
  });
});
