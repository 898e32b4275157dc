import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { preferredType } from './accept.ts';

const JSON_TYPE = 'application/json';
const CSV = 'text/csv';
const NDJSON = 'application/x-ndjson';

const CASES: readonly (readonly [accept: string | undefined, expected: string, why: string])[] = [
  [undefined, JSON_TYPE, 'no header'],
  ['', JSON_TYPE, 'blank'],
  [' \t', JSON_TYPE, 'blank'],
  [',, ,', JSON_TYPE, 'nothing between the commas'],
  ['*/*', JSON_TYPE, 'what curl sends'],
  [
    'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8',
    JSON_TYPE,
    'what a browser sends',
  ],
  ['application/json, text/plain, */*', JSON_TYPE, 'what a library sends'],
  ['text/csv', CSV, 'named'],
  ['application/x-ndjson', NDJSON, 'named'],
  ['application/json', JSON_TYPE, 'named'],
  ['TEXT/Csv', CSV, 'in any case'],
  [' text/csv ', CSV, 'blanks around'],
  ['text/*', CSV, 'the only text'],
  ['application/*', JSON_TYPE, 'the first that is offered'],
  ['image/png', JSON_TYPE, 'nothing that is offered'],
  ['text/csv, */*', CSV, 'more exact'],
  ['*/*, text/csv', CSV, 'more exact, whatever the order'],
  ['application/*, text/csv', CSV, 'more exact, whatever the order'],
  ['text/csv, */*;q=0.1', CSV, 'a higher weight'],
  ['text/csv;q=0.5, */*', JSON_TYPE, 'a higher weight of the rest'],
  ['text/csv;q=0.5, application/x-ndjson;q=0.6', NDJSON, 'a higher weight'],
  ['text/csv;q=0.5, application/x-ndjson;q=0.499', CSV, 'a higher weight'],
  ['text/csv, application/json', CSV, 'the order of the header'],
  ['application/json, text/csv', JSON_TYPE, 'the order of the header'],
  ['application/x-ndjson, text/csv', NDJSON, 'the order of the header'],
  ['text/csv;q=0.0, application/x-ndjson;q=0.001', NDJSON, 'the least weight beats none'],
  ['text/csv;q=0', JSON_TYPE, 'excluded'],
  ['text/csv;q=0, text/*', JSON_TYPE, 'excluded, though its family is not'],
  ['application/json;q=0, */*', NDJSON, 'JSON excluded, the next that is offered'],
  ['application/json;q=0', JSON_TYPE, 'all excluded'],
  ['*/*;q=0', JSON_TYPE, 'all excluded'],
  ['application/json;q=0, text/csv;q=0.2', CSV, 'JSON excluded'],
  ['text/csv;Q=0.2, application/x-ndjson;q=0.3', NDJSON, 'q in any case'],
  ['text/csv ; q=1.000', CSV, 'blanks before the parameter'],
  ['text/csv;q=1.', CSV, 'a point and nothing after it'],
  ['text/csv;charset=utf-8;header=present', CSV, 'other parameters'],
  ['text/csv;note="a, b;q=0, \\"c\\"", application/json', CSV, 'a comma and a quote in a parameter'],
  ['text/csv;', CSV, 'a semicolon and nothing after it'],
  ['text/csv;q=0.2, text/csv;q=0.9, application/json;q=0.5', CSV, 'the best of two'],
  ['text/csv;q=2', JSON_TYPE, 'no weight'],
  ['text/csv;q=-1', JSON_TYPE, 'no weight'],
  ['text/csv;q=', JSON_TYPE, 'no weight'],
  ['text/csv;q=0.1234', JSON_TYPE, 'no weight: too many digits'],
  ['text/csv;q=high', JSON_TYPE, 'no weight'],
  ['text/csv;q="1"', JSON_TYPE, 'no weight: quoted'],
  ['text', JSON_TYPE, 'no media type'],
  ['csv', JSON_TYPE, 'no media type'],
  ['text/csv/x', JSON_TYPE, 'no media type'],
  ['text /csv', JSON_TYPE, 'no media type'],
  ['*/csv', JSON_TYPE, 'no range there is'],
  ['*', JSON_TYPE, 'no range there is'],
  ['text/csv application/json', JSON_TYPE, 'no comma'],
  ['text/csv;note="open', JSON_TYPE, 'a quote without an end'],
  ['???, text/csv', CSV, 'beside one that is malformed'],
  ['tëxt/csv', JSON_TYPE, 'no token'],
  ['__proto__/*, constructor', JSON_TYPE, 'names of every object'],
];

describe('preferredType', () => {
  for (const [accept, expected, why] of CASES) {
    it(`takes ${expected} for ${accept === undefined ? 'nothing' : `'${accept}'`} (${why})`, () => {
      assert.equal(preferredType(accept, [JSON_TYPE, NDJSON, CSV]), expected);
    });
  }

  it('takes the first that is offered where all are equal', () => {
    assert.equal(preferredType('*/*', [CSV, JSON_TYPE]), CSV);
    assert.equal(preferredType('text/plain', [CSV, JSON_TYPE]), CSV);
  });

  it('reads a long header in no time, whatever it is made of', () => {
    for (const part of ['text/csv;', '"', 'a', 'a/b;c="', 'text/csv;q=0.5,', ';', ';a=b', '\\"', 'a/b; "']) {
      for (const filling of [part, ' ', `${part} `]) {
        const header = `${part}${filling.repeat(100_000)}"`;
        assert.equal(preferredType(header, [JSON_TYPE]), JSON_TYPE);
      }
    }
  });
});
