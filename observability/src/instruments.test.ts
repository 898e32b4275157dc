import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { counter, gauge, histogram } from './declaration.ts';
import { Metrics } from './instruments.ts';

const description = { unit: 'things', meaning: 'Things.' };
const things = counter('things_total', { ...description, labels: ['kind', 'size'] });
const seconds = histogram('things_seconds', [0.1, 1], { ...description, labels: ['kind'] });

describe('metrics of a process', () => {
  it('count by the values of their labels', async () => {
    const metrics = new Metrics();
    const counted = metrics.counter(things);
    counted.with('a', 'small').add();
    counted.with('a', 'small').add(2);
    counted.with('a', 'large').add();
    assert.equal(counted.with('a', 'small'), counted.with('a', 'small'));
    assert.deepEqual(await metrics.collect(), [
      {
        name: 'things_total',
        series: [
          [['a', 'small'], 3],
          [['a', 'large'], 1],
        ],
      },
    ]);
  });

  it('without labels have their one series from the start', async () => {
    const metrics = new Metrics();
    metrics.counter(counter('plain_total', description));
    assert.deepEqual(await metrics.collect(), [{ name: 'plain_total', series: [[[], 0]] }]);
  });

  it('count a value into the first bucket that it does not exceed', async () => {
    const metrics = new Metrics();
    const measured = metrics.histogram(seconds);
    for (const value of [0.05, 0.1, 0.5, 7]) measured.with('a').observe(value);
    assert.deepEqual(await metrics.collect(), [
      { name: 'things_seconds', series: [[['a'], [2, 1, 1], 7.65]] },
    ]);
  });

  it('read what others keep at the moment of a scrape, and leave out what is unknown', async () => {
    const metrics = new Metrics();
    let value: number | undefined = 1;
    metrics.observe(gauge('depth', { ...description, labels: ['queue'] }), (report) => report(value, 'q'));
    assert.deepEqual(await metrics.collect(), [{ name: 'depth', series: [[['q'], 1]] }]);
    value = undefined;
    assert.deepEqual(await metrics.collect(), [{ name: 'depth', series: [] }]);
  });

  it('have 2,000 series each at most, and one for all others', async () => {
    const metrics = new Metrics();
    const counted = metrics.counter(things);
    for (let n = 0; n < 5_000; n += 1) counted.with(`kind ${n}`, 'small').add();
    counted.with('kind 7', 'small').add();
    const [{ series } = { series: [] }] = await metrics.collect();
    assert.equal(series.length, 2_001);
    assert.deepEqual(series.at(-1), [['other', 'other'], 3_000]);
    assert.deepEqual(series[7], [['kind 7', 'small'], 2]);
  });

  it('are not registered twice', () => {
    const metrics = new Metrics();
    metrics.counter(things);
    assert.throws(() => metrics.counter(things), /things_total is registered already/);
  });

  it('are collected although a preparation fails or does not end', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const metrics = new Metrics();
    metrics.counter(counter('plain_total', description)).with().add();
    metrics.prepare(() => Promise.reject(new Error('no database')));
    metrics.prepare(() => new Promise(() => undefined));
    const collected = metrics.collect();
    t.mock.timers.tick(2_000);
    assert.deepEqual(await collected, [{ name: 'plain_total', series: [[[], 1]] }]);
  });
});
