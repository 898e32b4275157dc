import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Dependencies } from '../context/dependencies.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { StepTable } from './step-table.ts';

const exchange = {} as Exchange;
const dependencies = {} as Dependencies;
const start = { word: 'a' };

const count = ({ word }: { readonly word: string }) => ({ length: word.length });
const square = async ({ length }: { readonly length: number }) => ({ area: length ** 2 });
const refuse = () => {
  throw new Error('refused');
};

describe('StepTable', () => {
  const table = StepTable.begin<{ wide: typeof start; narrow: typeof start }>()
    .row(count, 'wide', 'narrow')
    .row(square, 'wide');

  it('runs the steps of one column, each with what those before it added', async () => {
    const wide = await table.run('wide', start, exchange, dependencies);
    assert.deepEqual(wide, { kind: 'done', learned: { word: 'a', length: 1, area: 1 } });
    const narrow = await table.run('narrow', start, exchange, dependencies);
    assert.deepEqual(narrow, { kind: 'done', learned: { word: 'a', length: 1 } });
  });

  it('stops at the step that fails, with what was learnt before it', async () => {
    const failing = StepTable.begin<{ only: typeof start }>()
      .row(count, 'only')
      .row(refuse, 'only')
      .row(square, 'only');
    const run = await failing.run('only', start, exchange, dependencies);
    assert.deepEqual(run, {
      kind: 'failed',
      learned: { word: 'a', length: 1 },
      error: new Error('refused'),
    });
  });

  it('leaves what it begins with as it was', async () => {
    await table.run('wide', start, exchange, dependencies);
    assert.deepEqual(start, { word: 'a' });
  });

  it('does not compile where a column lacks what a step needs', () => {
    // @ts-expect-error: `narrow` has no length yet.
    StepTable.begin<{ wide: { length: number }; narrow: typeof start }>().row(square, 'wide', 'narrow');
  });
});
