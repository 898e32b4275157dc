import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Basis, basisOf, type Work } from './billing.ts';

const ends = ['no_work', 'complete', 'left', 'broken'] as const;
const reports = ['nothing', 'provisional', 'final'] as const;

// Every case there is: how it ended, whether it was a stream, had content, had reasoning, was read on; then what it is billed by when
// nothing was reported, when something was, and when that was final.
const table: readonly (readonly [string, Basis, Basis, Basis])[] = [
  ['no_work', 'nothing', 'nothing', 'nothing'],
  ['complete', 'larger', 'larger', 'reported'],
  ['left, whole', 'held', 'held', 'reported'],
  ['left, whole, content', 'held', 'held', 'reported'],
  ['left, stream', 'held', 'held', 'reported'],
  ['left, stream, reasoning', 'held', 'held', 'reported'],
  ['left, stream, content', 'held', 'held', 'reported'],
  ['left, stream, content, read on', 'larger', 'larger', 'reported'],
  ['left, stream, content, reasoning', 'held', 'held', 'reported'],
  ['left, stream, content, reasoning, read on', 'held', 'held', 'reported'],
  ['broken', 'nothing', 'larger', 'larger'],
  ['broken, content', 'larger', 'larger', 'larger'],
];

/** The most particular line that fits. */
function expected({ end, isStream, hasContent, hasReasoning, isReadOn, reported }: Work): Basis {
  const words = [
    end,
    isStream ? 'stream' : 'whole',
    hasContent && 'content',
    hasReasoning && 'reasoning',
    isReadOn && 'read on',
  ];
  const fitting = table.filter(([title]) => title.split(', ').every((word) => words.includes(word)));
  const [line] = fitting.toSorted(([one], [other]) => other.length - one.length);
  assert.ok(line);
  return line[1 + reports.indexOf(reported)] as Basis;
}

describe('what a request is billed by', () => {
  for (const end of ends) {
    for (const isStream of [false, true]) {
      for (const hasContent of [false, true]) {
        for (const hasReasoning of [false, true]) {
          for (const isReadOn of [false, true]) {
            for (const reported of reports) {
              const work = { end, isStream, hasContent, hasReasoning, isReadOn, reported };
              const basis = expected(work);
              it(`is ${basis} for ${JSON.stringify(work)}`, () => assert.equal(basisOf(work), basis));
            }
          }
        }
      }
    }
  }
});
