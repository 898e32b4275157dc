import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { createTurns } from './turns.ts';

const endOfTurn = () => new Promise((resolve) => setImmediate(resolve));

describe('createTurns', () => {
  afterEach(() => process.setUncaughtExceptionCaptureCallback(null));

  it('does one piece of work in each turn, in order, with those that a piece adds', async () => {
    const inTurn = createTurns();
    const done: string[] = [];
    inTurn(() => {
      done.push('first');
      inTurn(() => done.push('last'));
    });
    inTurn(() => done.push('second'));
    assert.equal(done.length, 0);
    for (const expected of ['first', 'first second', 'first second last']) {
      await endOfTurn();
      assert.equal(done.join(' '), expected);
    }
    inTurn(() => done.push('later'));
    await endOfTurn();
    assert.equal(done.at(-1), 'later');
  });

  it('goes on after a piece that throws', async () => {
    const thrown: Error[] = [];
    process.setUncaughtExceptionCaptureCallback((error) => thrown.push(error));
    const inTurn = createTurns();
    const done: string[] = [];
    inTurn(() => {
      throw new Error('thrown');
    });
    inTurn(() => done.push('next'));
    for (let turn = 0; turn < 3; turn += 1) await endOfTurn();
    assert.deepEqual(done, ['next']);
    assert.deepEqual(
      thrown.map(({ message }) => message),
      ['thrown'],
    );
  });
});
