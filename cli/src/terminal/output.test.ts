import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { columns, minute, shown } from './output.ts';

describe('shown', () => {
  it('leaves text as it is, save for what a terminal would obey', () => {
    assert.equal(shown('Straße 😀 <b>'), 'Straße 😀 <b>');
    assert.equal(
      shown('a\u001b[2J\r\nb\u009b\u2028\u202e'),
      'a\\u{1b}[2J\\u{d}\\u{a}b\\u{9b}\\u{2028}\\u{202e}',
    );
  });
});

describe('columns', () => {
  it('makes each as wide as its widest cell, with nothing at the end of a line', () => {
    assert.deepEqual(
      columns([
        ['ID', 'NAME', 'N'],
        ['1', '😀😀', ''],
        ['123', 'b', '7'],
      ]),
      ['ID   NAME  N', '1    😀😀', '123  b     7'],
    );
    assert.deepEqual(columns([]), []);
    assert.deepEqual(columns([], 10), []);
  });

  it('cuts the widest where they would not fit, and none to less than twelve characters', () => {
    const rows = [
      ['PREFIX', 'NAME'],
      ['sk_svc_AbCdEfGh', 'a name that is longer than the line of a terminal'],
    ];
    assert.deepEqual(columns(rows, 40), [
      'PREFIX           NAME',
      'sk_svc_AbCdEfGh  a name that is longer …',
    ]);
    assert.deepEqual(columns(rows, 5), ['PREFIX        NAME', 'sk_svc_AbCd…  a name that…']);
    assert.deepEqual(columns(rows, 66), columns(rows));
  });
});

describe('minute', () => {
  it('is a timestamp without its seconds', () => {
    assert.equal(minute('2026-11-20T10:15:30.123456+00:00'), '2026-11-20 10:15');
  });
});
